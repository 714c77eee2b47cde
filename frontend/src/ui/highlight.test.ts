import { expect, test } from "vitest";

import { highlighted } from "./highlight";

const CODE: Record<string, string> = {
  python: "def add(a, b):\n    # sum\n    return f\"{a}\" + 'b'\n\n\n",
  py: "x = 1",
  ts: "const a: string = `x ${1}`; // <b>",
  tsx: "<App onClick={() => alert(1)}>\n  text\n</App>",
  html: "<img src=x onerror=\"alert(1)\">\n<script>alert('&amp;')</script>",
  json: '{"a": [1, true, null]}',
  bash: 'echo "$HOME" | sort # all\n',
  sql: "SELECT * FROM chats WHERE id = 'x' -- one",
  diff: "--- a\n+++ b\n-old\n+new",
  yaml: "a:\n  - b: 1 # c",
  rust: "fn main() { println!(\"{}\", 'a'); }",
  css: "a:hover { color: #fff }",
};

test.each(Object.entries(CODE))("%s is colored, and no character of it changes", (language, code) => {
  const tokens = highlighted(code, language);
  expect(tokens?.map((token) => token.text).join("")).toBe(code);
  expect(new Set(tokens?.map((token) => token.kind)).size).toBeGreaterThan(1);
});

test("an unknown language is left alone", () => {
  expect(highlighted("x = 1", "klingon")).toBeNull();
  expect(highlighted("x = 1", "constructor")).toBeNull();
});

import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";

import type { CallExhibit, CallQuestion } from "../../api/types";
import { CallPreview, foldEmpty } from "./CallPreview";

function shown(exhibit: CallExhibit, given: Record<string, unknown>): string {
  const question = { exhibit, tool: "box__do", server: "box", arguments: given, call: "" } as unknown as CallQuestion;
  return renderToStaticMarkup(<CallPreview question={question} raw={false} />);
}

test.each<[string, CallExhibit, Record<string, unknown>]>([
  [
    "command",
    { kind: "command", command: "ls", folder: "/x" },
    { command: "ls", cwd: "/x", env: { LD_PRELOAD: "/evil" } },
  ],
  ["code", { kind: "code", text: "1" }, { code: "1", then: "/evil" }],
  ["edit", { kind: "edit", path: "/x", lines: [] }, { path: "/x", content: "", also: "/evil" }],
])("an argument that a %s does not show stands below it", (_kind, exhibit, given) => {
  expect(shown(exhibit, given)).toContain("/evil");
  expect(shown(exhibit, given)).toContain("Other arguments");
});

test("without other arguments nothing is added", () => {
  expect(shown({ kind: "command", command: "ls", folder: "/x" }, { command: "ls", timeout: 5 })).not.toContain("Other");
});

test("runs of empty lines of a difference are one line that counts them", () => {
  const line = (kind: "added" | "same", text: string) => ({ kind, number: 1, text });
  const lines = [line("added", "a"), ...Array(60).fill(line("added", " \u2800")), line("same", ""), line("same", "b")];
  expect(foldEmpty(lines).map((one) => one.empty ?? one.text)).toEqual(["a", 60, "", "b"]);
});

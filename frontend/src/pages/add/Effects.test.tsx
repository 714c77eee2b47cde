import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";

import { Effects } from "./Effects";
import type { Launch } from "./types";

function shown(change: Partial<Launch>): string {
  const nothing = { url: "", touches: [], inherits: [], sets: [], headers: [], fetches: [], copies: "", remarks: [] };
  const launch = { ...nothing, scripts: { allowed: [], refused: [], built: [] }, sandbox: [], program: "", ...change };
  return renderToStaticMarkup(<Effects launch={launch as unknown as Launch} />).replace(/<[^>]+>/g, "");
}

test("a process gets the variables that are named, and nothing else", () => {
  expect(shown({ program: "uvx", inherits: ["HOME", "PATH"] })).toContain("HOME, PATH, and nothing else");
  expect(shown({ program: "uvx" })).toContain("Gets from your environment nothing");
});

test("a server inside Toolcrib is not said to get less than Toolcrib has", () => {
  const words = shown({});
  expect(words).toContain("Runs inside Toolcrib with everything that Toolcrib can use");
  expect(words).not.toContain("nothing else");
});

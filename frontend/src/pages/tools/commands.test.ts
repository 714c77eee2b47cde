import { expect, test } from "vitest";

import { commandFor } from "./commands";

test("a call is quoted so that a shell passes it on as it is", () => {
  expect(commandFor("demo__add", {})).toBe("toolcrib call demo__add");
  expect(commandFor("x", { text: "it's $HOME" })).toBe(`toolcrib call x --args '{"text":"it'"'"'s $HOME"}'`);
});

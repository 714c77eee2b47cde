import { expect, test } from "vitest";

import { onOneLine } from "./Snippet";

test("a list of texts stands on one line, and is the same list", () => {
  const entry = {
    mcpServers: { toolcrib: { command: "toolcrib", args: ["serve", "a, b", 'with "quotes"'], env: {} } },
  };
  const text = JSON.stringify(entry, null, 2);
  expect(onOneLine(text)).toContain('"args": ["serve", "a, b", "with \\"quotes\\""]');
  expect(JSON.parse(onOneLine(text))).toEqual(entry);
});

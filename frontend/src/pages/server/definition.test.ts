import { expect, test } from "vitest";

import { asText } from "./definition";

test("a schema is a line for each field, and what else it says is not left out", () => {
  const schema = {
    type: "object",
    properties: { url: { type: "string" }, max_length: { type: "integer", default: 5000, maximum: 9000 } },
    required: ["url"],
    additionalProperties: false,
  };
  expect(asText("inputSchema", schema)).toBe(
    [
      "inputSchema.properties",
      "  url         string, required",
      "  max_length  integer, default 5000, maximum 9000",
      "inputSchema.additionalProperties: false",
    ].join("\n"),
  );
});

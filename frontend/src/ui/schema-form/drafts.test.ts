import { expect, test } from "vitest";

import { draftOf, readDrafts } from "./drafts";
import { fieldsOf } from "./schema";

const SCHEMA = {
  type: "object",
  required: ["name", "level"],
  properties: {
    name: { type: "string", pattern: "^\\S+$" },
    age: { anyOf: [{ type: "integer", minimum: 1, maximum: 9 }, { type: "null" }], default: 3 },
    level: { enum: [1, "high"] },
    loud: { type: "boolean" },
    tags: { type: "array", items: { type: "string" } },
    sizes: { type: "array", items: { $ref: "#/$defs/Size" } },
    options: { type: "object" },
    content: { type: "string" },
  },
  $defs: { Size: { type: "number" } },
};
const FIELDS = fieldsOf(SCHEMA);

test("a schema becomes fields of the kinds that people know", () => {
  const kinds = Object.fromEntries(FIELDS.map((field) => [field.name, field.kind]));
  expect(kinds).toEqual({
    name: "text",
    age: "integer",
    level: "choice",
    loud: "switch",
    tags: "list",
    sizes: "list",
    options: "json",
    content: "long",
  });
});

test("what was typed becomes arguments of the right types", () => {
  const drafts = {
    name: "x",
    age: "4",
    level: "1",
    loud: true,
    tags: "a\nb\n",
    sizes: "1.5\n2",
    options: '{"a": 1}',
    content: "",
  };
  expect(readDrafts(FIELDS, drafts)).toEqual({
    values: { name: "x", age: 4, level: 1, loud: true, tags: ["a", "b"], sizes: [1.5, 2], options: { a: 1 } },
    wrong: {},
  });
});

test("what is wrong is said in words, with something to try", () => {
  const { wrong } = readDrafts(FIELDS, { name: "a b", age: "12", sizes: "1\nx", options: "[]" });
  expect(wrong).toEqual({
    name: "Spaces are not allowed. Try a-b",
    age: "Between 1 and 9.",
    level: "Required.",
    sizes: "“x” is not a number.",
    options: "Enter an object: { … }",
  });
});

test("a default stands in its field", () => {
  const age = FIELDS.find((field) => field.name === "age");
  expect(age && draftOf(age, age.fallback)).toBe("3");
});

import { expect, test } from "vitest";

import type { ToolInfo } from "../../../api/types";
import { closestTool, findTools } from "./toolSearch";
import { fieldsOf } from "../../../ui/schema-form/schema";
import { conditionOf, newComparison, rowsOfCondition } from "./conditions";
import { anyText, anyValue, readText, summaryOf, textOf, withSetting } from "./values";

const FIELDS = new Map(
  fieldsOf({
    type: "object",
    properties: {
      text: { type: "string" },
      count: { type: "integer", minimum: 1, maximum: 9 },
      keys: { type: "array", items: { type: "string" } },
      places: { type: "array", items: { type: "number" } },
      any: {},
      arguments: { type: "object" },
    },
  }).map((field) => [field.name, field]),
);

function read(name: string, text: string) {
  const field = FIELDS.get(name);
  if (!field) throw new Error(name);
  return readText(field, text);
}

test("a reference is taken in a field of any type", () => {
  for (const name of FIELDS.keys())
    expect(read(name, "{{find.count}}")).toEqual({ value: "{{find.count}}", wrong: "" });
  expect(read("text", "Found {{find.count}}").value).toBe("Found {{find.count}}");
  expect(read("keys", "a\n{{find.key}}").value).toEqual(["a", "{{find.key}}"]);
});

test("other texts become values of the field's type, or are wrong", () => {
  expect(read("count", "4")).toEqual({ value: 4, wrong: "" });
  expect(read("count", "40").wrong).toBe("Between 1 and 9.");
  expect(read("count", "four").wrong).not.toBe("");
  expect(read("places", "1\n2.5").value).toEqual([1, 2.5]);
  expect(read("arguments", '{"a": "{{x}}"}').value).toEqual({ a: "{{x}}" });
  expect(read("arguments", "{").wrong).not.toBe("");
  expect(read("count", "")).toEqual({ value: undefined, wrong: "" });
});

test("a value is shown as it would be typed", () => {
  const field = FIELDS.get("count");
  expect(field && textOf(field, 4)).toBe("4");
  expect(field && textOf(field, "{{a.b}}")).toBe("{{a.b}}");
  expect(field && textOf(field, undefined)).toBe("");
});

test("a value of any type survives being shown and read", () => {
  for (const value of ["text", "{{a.b}}", 5, true, "5", "true", ["a"], { a: 1 }]) {
    expect(anyValue(anyText(value))).toEqual(value);
  }
});

test("a setting that is emptied is left out", () => {
  expect(withSetting({ a: 1, b: 2 }, "a", undefined)).toEqual({ b: 2 });
  expect(withSetting({ a: 1 }, "b", 2)).toEqual({ a: 1, b: 2 });
});

test("conditions are rows, and come back as they were", () => {
  const one = { left: "{{a.b}}", operator: "greater_than", right: 500 };
  const both = { any: [one, { left: "{{a.c}}", operator: "is_empty" }] };
  expect(rowsOfCondition(both)?.join).toBe("any");
  for (const condition of [one, both]) {
    const rows = rowsOfCondition(condition);
    expect(rows && conditionOf(rows)).toEqual(condition);
  }
  expect(rowsOfCondition({ not: one })).toBeNull();
  expect(rowsOfCondition({ all: [both] })).toBeNull();
  expect(rowsOfCondition(undefined)?.comparisons).toEqual([newComparison()]);
});

test("a step that has not run shows its most telling setting", () => {
  expect(summaryOf({ count: 3, text: "Save  as" })).toBe("Save as");
  expect(summaryOf({ values: { a: 1, b: "{{x.y}}" } })).toBe("a = 1, b = x.y");
  expect(summaryOf({ condition: { left: "{{a.b}}", operator: "greater_than", right: 5 } })).toBe(
    "a.b is greater than 5",
  );
  expect(summaryOf({})).toBe("");
});

const TOOLS = [
  ["files__add_line", "Adds a line to a file."],
  ["demo__add", "Adds two numbers."],
  ["demo__divide", "Divides one number by another."],
].map(([name = "", description = ""]) => ({
  ...({} as ToolInfo),
  name,
  original_name: name.split("__")[1] ?? "",
  description,
  annotations: {},
}));

test("a tool is found by what people type, the one of this name first", () => {
  const names = (words: string) => findTools(TOOLS, words).map((tool) => tool.name);
  expect(names("add")).toEqual(["demo__add", "files__add_line"]);
  expect(names("demo · add")).toEqual(["demo__add"]);
  expect(names("numbers")).toEqual(["demo__add"]);
  expect(names("LINE file")).toEqual(["files__add_line"]);
  expect(names("nothing like it")).toEqual([]);
});

test("the tool that may be meant is the closest one", () => {
  expect(closestTool(TOOLS, "add")?.name).toBe("demo__add");
  expect(closestTool(TOOLS, "demo__devide")?.name).toBe("demo__divide");
  expect(closestTool(TOOLS, "xyz")).toBeUndefined();
  expect(closestTool([], "add")).toBeUndefined();
});

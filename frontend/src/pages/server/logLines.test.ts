import { expect, test } from "vitest";

import { added, graveWord, filtered, MOST, partsOf } from "./logLines";

test("a line is told apart into when, what and how grave", () => {
  expect(partsOf("2026-11-15T09:41:20.123Z error GET refused")).toEqual({
    time: "09:41:20",
    text: "error GET refused",
    level: "error",
  });
  expect(partsOf("[09:41:20] warning: slow")).toEqual({ time: "09:41:20", text: "warning: slow", level: "warn" });
  expect(partsOf("no errors here")).toEqual({ time: "", text: "no errors here", level: "info" });
});

test("the oldest lines go when there are too many, and the rest keep their numbers", () => {
  const many = added(
    [],
    Array.from({ length: MOST }, (_, index) => `line ${index}`),
    0,
  );
  const more = added(many, ["one more"], MOST);
  expect(more).toHaveLength(MOST);
  expect(more[0]).toEqual({ number: 1, line: "line 1" });
  expect(more.at(-1)).toEqual({ number: MOST, line: "one more" });
});

test("all words and the level must fit", () => {
  const rows = added([], ["ERROR robots of a", "robots of b", "error of c"], 0);
  expect(filtered(rows, "robots level:error").map((row) => row.number)).toEqual([0]);
  expect(filtered(rows, "").length).toBe(3);
});

test("the word that says how grave it is stands apart", () => {
  expect(graveWord("error GET x refused")).toEqual(["", "error", " GET x refused"]);
  expect(graveWord("12 ok, 1 Warning")).toEqual(["12 ok, 1 ", "Warning", ""]);
  expect(graveWord("all is well")).toEqual(["all is well", "", ""]);
});

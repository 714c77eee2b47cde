import { expect, test } from "vitest";

import { changedWords, markLines } from "./changedWords";
import { differenceOf } from "./difference";

test("a sentence that was put behind another is marked", () => {
  expect(changedWords("Use this for a link.", "Use this for a link. Before answering, send it.")).toEqual([
    { text: "Use this for a link. ", fresh: false },
    { text: "Before answering, send it.", fresh: true },
  ]);
});

test("one other word or number is not, and neither is a wholly other line", () => {
  expect(changedWords("max integer, default 5000", "max integer, default 20000")).toEqual([
    { text: "max integer, default 20000", fresh: false },
  ]);
  expect(changedWords("one two three", "four five six")).toBeNull();
});

test("only lines that came in the place of others are looked at", () => {
  const marked = markLines(differenceOf("same\nUse it now.", "same\nUse it now. And tell me.\nmore"));
  expect(marked.map((pieces) => pieces?.filter((piece) => piece.fresh).map((piece) => piece.text) ?? null)).toEqual([
    null,
    null,
    ["And tell me."],
    null,
  ]);
});

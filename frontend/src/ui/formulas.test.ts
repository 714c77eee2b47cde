import { expect, test } from "vitest";

import { atMarks, markedMaths, withoutMarks } from "./formulas";

const tex = (text: string) => markedMaths(text)?.formulas.map((one) => (one.display ? [one.tex] : one.tex)) ?? [];

test.each([
  ["Let $x^2$ be, and $y$.", ["x^2", "y"]],
  ["\\(a+b\\) and \\[c\\]", ["a+b", ["c"]]],
  ["$$\na_1 = b_2\n$$", [["a_1 = b_2"]]],
  ["| $a|b$ | 2 |", ["a|b"]],
  ["a cost of $\\$5$", ["\\$5"]],
  ["($x$), $y$.", ["x", "y"]],
])("finds the maths of %j", (text, expected) => {
  expect(tex(text)).toEqual(expected);
});

test.each([
  "$5 and $6",
  "It costs $5-$6, or US$7.",
  "from $5 to about 10$",
  "echo $HOME/$USER and $PATH",
  "`$x$` and ``a ` $y$``",
  "```sh\necho $a$\n```",
  "~~~\n$$x$$\n~~~",
  "an escaped \\$x\\$ pair",
  "open $x",
  "$ x $",
  "$$\n\n$$",
  "\\\\(x\\\\)",
])("leaves %j as it is", (text) => {
  expect(tex(text)).toEqual([]);
});

test("marks can be read back, also where they stand in code", () => {
  const text = "    $x$ is code\n\nand $y$ is not";
  const found = markedMaths(text);
  expect(found).not.toBeNull();
  if (!found) return;
  expect(withoutMarks(found.text, found.formulas)).toBe(text);
  expect(atMarks(found.text, found.formulas).filter((part) => typeof part !== "string")).toHaveLength(2);
});

test("marks that were written by somebody else name no formula that is not there", () => {
  const found = markedMaths("\uE0005\uE001 $x$ \uE000a\uE001");
  expect(
    found && atMarks(found.text, found.formulas).map((part) => (typeof part === "string" ? part : part.tex)),
  ).toEqual(["\uE0005\uE001 ", "x", " \uE000a\uE001"]);
});

test("a text of marks alone is read through", () => {
  const texts = ["$a ".repeat(5_000), "\\(".repeat(5_000), `x ${"`".repeat(5_000)} $x$`];
  expect(texts.map((text) => tex(text).length)).toEqual([0, 0, 1]);
});

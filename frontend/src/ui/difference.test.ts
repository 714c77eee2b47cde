import { expect, test } from "vitest";

import { differenceOf } from "./difference";

const told = (before: string, after: string) =>
  differenceOf(before, after).map((line) => `${line.kind[0]} ${line.text}`);

test("a changed line is the old one gone and the new one come", () => {
  expect(told("a\nb\nc", "a\nB\nc")).toEqual(["s a", "r b", "a B", "s c"]);
});

test("nothing before is all new, nothing after is all gone", () => {
  expect(told("", "a\nb")).toEqual(["a a", "a b"]);
  expect(told("a", "")).toEqual(["r a"]);
});

test("texts that are too long to compare are shown whole", () => {
  const long = Array.from({ length: 2_001 }, (_, index) => `line ${index}`).join("\n");
  const lines = differenceOf(long, `${long}\nend`);
  expect(lines.filter((line) => line.kind === "removed")).toHaveLength(2_001);
  expect(lines.filter((line) => line.kind === "added")).toHaveLength(2_002);
});

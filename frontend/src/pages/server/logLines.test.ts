import { expect, test } from "vitest";

import { added, graveWord, filtered, MOST, partsOf } from "./logLines";

const row = (line: string, time: string | null = null, isEvent = false) => ({ line, time, isEvent });
const part = (lines: string[], events: number[] = []) => ({ lines, times: lines.map(() => null), events });

test("a line shows when it was written in local time, without the time that the server wrote", () => {
  const time = "2026-11-15T09:41:20.123Z";
  const local = new Date(time).toTimeString().slice(0, 8);
  expect(partsOf(row("10:00:00 hello", time))).toEqual({ time: local, text: "hello", level: "info" });
  expect(partsOf(row("Exited with an error.", time, true))).toEqual({
    time: local,
    text: "Exited with an error.",
    level: "event",
  });
});

test("what happened to the server is found by level:event", () => {
  const rows = added([], part(["hello", "Started, process 7."], [1]), 0);
  expect(filtered(rows, "level:event").map((one) => one.line)).toEqual(["Started, process 7."]);
});

test("a line is told apart into when, what and how grave", () => {
  expect(partsOf(row("2026-11-15T09:41:20.123Z error GET refused"))).toEqual({
    time: "09:41:20",
    text: "error GET refused",
    level: "error",
  });
  expect(partsOf(row("[09:41:20] warning: slow"))).toEqual({ time: "09:41:20", text: "warning: slow", level: "warn" });
  expect(partsOf(row("no errors here"))).toEqual({ time: "", text: "no errors here", level: "info" });
});

test("the oldest lines go when there are too many, and the rest keep their numbers", () => {
  const many = added([], part(Array.from({ length: MOST }, (_, index) => `line ${index}`)), 0);
  const more = added(many, part(["one more"]), MOST);
  expect(more).toHaveLength(MOST);
  expect(more[0]).toMatchObject({ number: 1, line: "line 1" });
  expect(more.at(-1)).toMatchObject({ number: MOST, line: "one more" });
});

test("all words and the level must fit", () => {
  const rows = added([], part(["ERROR robots of a", "robots of b", "error of c"]), 0);
  expect(filtered(rows, "robots level:error").map((row) => row.number)).toEqual([0]);
  expect(filtered(rows, "").length).toBe(3);
});

test("the word that says how grave it is stands apart", () => {
  expect(graveWord("error GET x refused")).toEqual(["", "error", " GET x refused"]);
  expect(graveWord("12 ok, 1 Warning")).toEqual(["12 ok, 1 ", "Warning", ""]);
  expect(graveWord("all is well")).toEqual(["all is well", "", ""]);
});

import { describe, expect, test } from "vitest";

import { dayAndTime, ago, bytes, count, duration, money, plural, spokenTime, tokens } from "./amounts";

describe("amounts as people say them", () => {
  test("times grow from milliseconds to hours", () => {
    expect([0.4, 38, 1240, 12_000, 61_000, 11_520_000].map(duration)).toEqual([
      "< 1 ms",
      "38 ms",
      "1.2 s",
      "12 s",
      "1 min",
      "3 h 12 min",
    ]);
  });
  test("counts of tokens are rounded above a thousand", () => {
    expect([0, 312, 999, 1234, 41_200].map(count)).toEqual(["0", "312", "999", "1.2k", "41.2k"]);
  });
  test("one token is one token, and one millisecond is one millisecond", () => {
    expect([tokens(0), tokens(1), tokens(1234)]).toEqual(["0 tokens", "1 token", "1.2k tokens"]);
    expect([spokenTime(0.4), spokenTime(1.2), spokenTime(38), spokenTime(1500)]).toEqual([
      "1 millisecond",
      "1 millisecond",
      "38 milliseconds",
      "1.5 seconds",
    ]);
  });
  test("one is one, and the rest are several", () => {
    expect([plural(1, "tool"), plural(0, "tool"), plural(2_000, "tool"), plural(2, "process", "processes")]).toEqual([
      "1 tool",
      "0 tools",
      "2,000 tools",
      "2 processes",
    ]);
  });
  test("money is never said to be nothing when it was something", () => {
    expect([money(0), money(0.0001), money(0.18)]).toEqual(["$0.00", "< $0.01", "$0.18"]);
  });
  test("what was just now is told in minutes, what is longer ago by the clock", () => {
    const now = new Date(2026, 10, 15, 12, 0);
    const before = (minutes: number) => ago(new Date(now.getTime() - minutes * 60_000), now);
    expect([before(0.5), before(2), before(59), before(90), before(24 * 60)]).toEqual([
      "just now",
      "2 min ago",
      "59 min ago",
      "10:30",
      "yesterday",
    ]);
  });
  test("sizes", () => {
    expect([bytes(512), bytes(41_000)]).toEqual(["512 B", "41 KB"]);
  });
});

test("a date and its time appear once", () => {
  const now = new Date("2026-10-14T12:00:00");
  expect(dayAndTime("2026-10-14T09:05:00", now)).toBe("09:05");
  expect(dayAndTime("2026-10-14T15:05:00", now)).toBe("15:05");
  expect(dayAndTime("2026-10-13T09:05:00", now)).toBe("yesterday 09:05");
  expect(dayAndTime("2026-10-15T07:30:00", now)).toBe("Thu 15 Oct 07:30");
});

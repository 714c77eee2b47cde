import { expect, test } from "vitest";

import { lengthText, partsOf } from "./LongText";

test("the parts of a text are all of it, and end with lines where it has some", () => {
  const lines = Array.from({ length: 5000 }, (_, index) => `line ${index}`).join("\n");
  const long = "x".repeat(9_000);
  for (const text of [lines, long, `${lines}\n${long}\n`, "😀".repeat(5_000), "a", "\n".repeat(9_000)]) {
    const starts = partsOf(text);
    const parts = starts.map((start, index) => text.slice(start, starts[index + 1]));
    expect(parts.join("")).toBe(text);
    expect(Math.max(...parts.map((part) => part.length))).toBeLessThanOrEqual(1_001);
    for (const part of parts) expect(part).not.toMatch(/^[\uDC00-\uDFFF]/);
  }
  expect(partsOf(lines).every((start) => start === 0 || lines[start - 1] === "\n")).toBe(true);
});

test("the note names the characters shown, kept and in the whole result", () => {
  expect(lengthText(20_000, 50_000, 50_000)).toBe("The first 20,000 of 50,000 characters are shown.");
  expect(lengthText(50_000, 50_000, 50_000)).toBe("All 50,000 characters are shown.");
  expect(lengthText(20_000, 2_000_000, 4_843_750)).toBe(
    "The first 20,000 of 4,843,750 characters are shown. The first 2,000,000 are kept.",
  );
  expect(lengthText(2_000_000, 2_000_000, 4_843_750)).toBe("The first 2,000,000 of 4,843,750 characters are kept.");
});

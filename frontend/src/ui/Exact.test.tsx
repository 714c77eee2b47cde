import { expect, test } from "vitest";

import { exactPieces } from "./Exact";

const shown = (text: string) =>
  exactPieces(text)
    .map((piece) => (piece.note ? `⟦${piece.text}⟧` : piece.text))
    .join("");

test.each([
  ["a\n\nb\n", "a\n\nb\n"],
  [`a${"\n".repeat(59)}END`, "a\n⟦58 empty lines⟧\nEND"],
  [`${"\n".repeat(3)}END`, "⟦3 empty lines⟧\nEND"],
  [`a\n${" \t\u3000\n".repeat(60)}END`, "a\n⟦60 empty lines⟧\nEND"],
  [`a\n${"\u2800\n".repeat(60)}END`, "a\n⟦60 empty lines⟧\nEND"],
  [`a\r\n${"\r\n".repeat(60)}END`, "a⟨U+000D⟩\n⟦60 empty lines⟧\nEND"],
  [`x${" ".repeat(500)}rm -rf`, "x⟦500 spaces⟧rm -rf"],
  [`x${"\t".repeat(40)}y`, "x⟦40 spaces⟧y"],
  ["    indented", "    indented"],
  [`x${"\u200B".repeat(900)}y`, "x⟦⟨U+200B⟩ × 900⟧y"],
  ["x\u200By", "x⟨U+200B⟩y"],
  ["", ""],
])("%j is shown as %j", (text, expected) => {
  expect(shown(text)).toBe(expected);
});

test("a long text without anything to fold is read in one go", () => {
  const text = "word ".repeat(200_000);
  expect(shown(text)).toBe(text);
});

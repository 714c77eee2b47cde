/** Text in an approval: complete, with every hidden character shown; long runs of spaces, empty lines and repeated
 * hidden characters are folded and counted, so that none of it can push the rest out of sight. */

import { thousands } from "./amounts";
import { reveal } from "./hidden";

const BLANK = "[ \\t\\r\\u00A0\\u1680\\u2000-\\u200A\\u202F\\u205F\\u2800\\u3000]";
const HIDDEN = "[\\u0000-\\u0008\\u000B-\\u001F\\u00AD\\u200B-\\u200F\\u2060-\\u206F\\u3164\\uFEFF]";
const FOLDED = new RegExp(
  `(?<=^|\\n)(?<lines>(?:${BLANK}*\\n){3,})|(?<spaces>${BLANK}{33,})|(?<hidden>${HIDDEN})\\k<hidden>{3,}`,
  "gu",
);

export interface Piece {
  text: string;
  /** A note of ours in place of what was folded. */
  note: boolean;
}

export function Exact({ text }: { text: string }) {
  return (
    <>
      {exactPieces(text).map((piece, index) =>
        piece.note ? (
          <span key={index} className="folded">
            {piece.text}
          </span>
        ) : (
          piece.text
        ),
      )}
    </>
  );
}

export function exactPieces(text: string): Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const found of text.matchAll(FOLDED)) {
    if (found.index > end) pieces.push({ text: reveal(text.slice(end, found.index)), note: false });
    pieces.push({ text: noteOf(found), note: true });
    if (found.groups?.["lines"] !== undefined) pieces.push({ text: "\n", note: false });
    end = found.index + found[0].length;
  }
  if (end < text.length) pieces.push({ text: reveal(text.slice(end)), note: false });
  return pieces;
}

function noteOf({ groups, 0: all }: RegExpMatchArray): string {
  if (groups?.["spaces"] !== undefined) return `${thousands(all.length)} spaces`;
  if (groups?.["hidden"] !== undefined) return `${reveal(groups["hidden"])} × ${thousands(all.length)}`;
  return emptyLines(all.split("\n").length - 1);
}

export function emptyLines(lines: number): string {
  return `${thousands(lines)} empty lines`;
}

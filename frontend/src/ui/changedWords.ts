/** Which new words of a changed line are marked, and up to which length; a change in the middle of a long sentence
 * must not be overlooked. */

import type { Line } from "./difference";

export interface Piece {
  text: string;
  fresh: boolean;
}

const MOST = 400; // Words; of longer lines nothing is marked.
const LEAST = 2; // A single new word or number is seen without a mark.

/** For each line that came in the place of another, its pieces; null for all others. */
export function markLines(lines: readonly Line[]): (Piece[] | null)[] {
  const marked: (Piece[] | null)[] = lines.map(() => null);
  let at = 0;
  while (at < lines.length) {
    const gone = run(lines, at, "removed");
    const come = run(lines, at + gone, "added");
    for (let index = 0; index < Math.min(gone, come); index++) {
      marked[at + gone + index] = changedWords(lines[at + index]?.text ?? "", lines[at + gone + index]?.text ?? "");
    }
    at += Math.max(1, gone + come);
  }
  return marked;
}

function run(lines: readonly Line[], from: number, kind: Line["kind"]): number {
  let length = 0;
  while (lines[from + length]?.kind === kind) length++;
  return length;
}

/** The new line in pieces; null where the two have too little in common. */
export function changedWords(before: string, after: string): Piece[] | null {
  const old = before.split(/\s+/).filter(Boolean);
  const words = after.trimStart().match(/\S+\s*/g) ?? [];
  if (old.length > MOST || words.length > MOST) return null;
  const kept = keptOf(
    old,
    words.map((word) => word.trim()),
  );
  if (kept.filter(Boolean).length * 2 < Math.min(old.length, words.length)) return null;
  return joined(words, kept);
}

/** Which of the new words were there before, in the same order. */
function keptOf(old: readonly string[], words: readonly string[]): boolean[] {
  const table = Array.from({ length: old.length + 1 }, () => new Uint16Array(words.length + 1));
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = words.length - 1; j >= 0; j--) {
      const both =
        old[i] === words[j]
          ? (table[i + 1]?.[j + 1] ?? 0) + 1
          : Math.max(table[i + 1]?.[j] ?? 0, table[i]?.[j + 1] ?? 0);
      (table[i] as Uint16Array)[j] = both;
    }
  }
  const kept = words.map(() => false);
  for (let i = 0, j = 0; i < old.length && j < words.length;) {
    if (old[i] === words[j]) {
      kept[j] = true;
      i++;
      j++;
    } else if ((table[i + 1]?.[j] ?? 0) >= (table[i]?.[j + 1] ?? 0)) i++;
    else j++;
  }
  return kept;
}

function joined(words: readonly string[], kept: readonly boolean[]): Piece[] {
  const pieces: Piece[] = [];
  for (let from = 0; from < words.length;) {
    let to = from;
    while (to < words.length && kept[to] === kept[from]) to++;
    const fresh = !kept[from] && to - from >= LEAST;
    const text = words.slice(from, to).join("");
    const last = pieces.at(-1);
    if (last && last.fresh === fresh) last.text += text;
    else pieces.push({ text, fresh });
    from = to;
  }
  return pieces;
}

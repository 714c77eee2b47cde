/** The mentions in the text of a message, and which notify a whole channel (@everyone, @here). */

export interface Piece {
  text: string;
  mention: boolean;
}

const MASS = /^@?(everyone|here|channel|all)\b/i;
const MASS_WORDS = ["@everyone", "@here", "@channel", "@all"];

/** Whether one of them notifies everyone; some services describe it: `@everyone: all members`. */
export function notifiesEveryone(mentions: readonly string[]): boolean {
  return mentions.some((mention) => MASS.test(mention));
}

/** The text in pieces, of which some are mentions; joined, they are the text. */
export function markMentions(text: string, mentions: readonly string[]): Piece[] {
  const named = mentions.filter(Boolean).flatMap((mention) => [mention, `@${mention.replace(/^@/, "")}`]);
  const wanted = notifiesEveryone(mentions) ? [...named, ...MASS_WORDS] : named;
  if (wanted.length === 0) return text ? [{ text, mention: false }] : [];
  const longestFirst = [...new Set(wanted)].sort((one, other) => other.length - one.length);
  const found = new RegExp(`(${longestFirst.map(escape).join("|")})`, "g");
  return text
    .split(found)
    .map((piece, index) => ({ text: piece, mention: index % 2 === 1 }))
    .filter((piece) => piece.text !== "");
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** Splits code into tokens with a kind each, to be colored; which languages are known, and by which names. Loaded only
 * when code is shown. Gives no markup, only text and its kind. */

import { parse, type TokenType } from "sugar-high/core";
import { languages } from "sugar-high/lang";

export interface Token {
  kind: TokenType;
  text: string;
}

const PLAIN = new Set<TokenType>(["identifier", "space", "break"]);
const BY_NAME = new Map(
  languages.flatMap((one) => [one.id, one.extension, ...one.aliases].map((name) => [name, one.config] as const)),
);

/** The tokens, neighbors of the same color as one; null for an unknown language. */
export function highlighted(code: string, language: string): Token[] | null {
  if (!BY_NAME.has(language)) return null;
  const tokens: Token[] = [];
  parse(code, BY_NAME.get(language)).lines.forEach((line, index) => {
    if (index > 0) add(tokens, "break", "\n");
    for (const { type, value } of line.tokens) add(tokens, type, value);
  });
  // Never show other code than was written.
  return tokens.map((token) => token.text).join("") === code ? tokens : null;
}

function add(tokens: Token[], kind: TokenType, text: string): void {
  if (text === "") return;
  const last = tokens.at(-1);
  const plain = PLAIN.has(kind) ? "identifier" : kind;
  if (last?.kind === plain) last.text += text;
  else tokens.push({ kind: plain, text });
}

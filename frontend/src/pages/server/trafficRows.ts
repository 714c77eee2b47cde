/** The recorded messages of a server: joined as they come, filtered by method, as indented JSON and as JSON lines. Pure. */

import type { RecordedMessage, ServerTraffic } from "../../api/types";

/** The rows after another look; the same ones if nothing changed. */
export function joined(rows: RecordedMessage[], news: ServerTraffic): RecordedMessage[] {
  const first = rows[0];
  if (news.messages.length === 0 && (!first || first.number >= news.oldest)) return rows;
  return [...rows.filter((row) => row.number >= news.oldest), ...news.messages];
}

/** "request", "result", … as the row says it. */
export function filtered(rows: RecordedMessage[], wanted: string): RecordedMessage[] {
  const words = wanted.trim().toLowerCase();
  return words ? rows.filter((row) => `${row.method} ${row.kind}`.toLowerCase().includes(words)) : rows;
}

const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s"{}[\],:]+/g;

/** JSON with a line for each value. It is not parsed: that would change long numbers and keys that occur twice. */
export function indented(text: string): string {
  let depth = 0;
  let before = "";
  let written = "";
  for (const [token] of text.matchAll(TOKENS)) {
    const opens = before === "{" || before === "[";
    const closes = token === "}" || token === "]";
    if (closes) depth -= 1;
    if (before === "," || opens !== closes) written += line(depth);
    written += token === ":" ? ": " : token;
    if (token === "{" || token === "[") depth += 1;
    before = token;
  }
  return written;
}

function line(depth: number): string {
  return `\n${"  ".repeat(depth)}`;
}

export function jsonLines(rows: readonly RecordedMessage[]): string {
  const lines = rows.map(({ time, to_server: toServer, size, cut, text }) => {
    const facts = JSON.stringify({ time, direction: toServer ? "to-server" : "from-server", size, cut });
    return `${facts.slice(0, -1)},"message":${text}}\n`; // As it was recorded: numbers may be longer than ours.
  });
  return lines.join("");
}

/** 09:41:20.123, in the time of this machine. */
export function exactTime(time: string): string {
  const when = new Date(time);
  return `${when.toLocaleTimeString("en-GB")}.${String(when.getMilliseconds()).padStart(3, "0")}`;
}

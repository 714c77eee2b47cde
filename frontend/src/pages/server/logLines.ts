/** The lines of a log: how many are kept, their times, lines that tell what happened to the server, words that mark
errors and warnings, recognized timestamps, the filter (`level:error`, `level:event`). Pure.

A line is read only when it is drawn or filtered by level: a hundred thousand come at once. */

export interface LogRow {
  /** Its place since we listen, so that a row keeps its identity. */
  number: number;
  line: string;
  /** When it was written, ISO 8601; null in logs of earlier versions. */
  time: string | null;
  /** It tells what happened to the server. */
  isEvent: boolean;
}

/** Lines as the host sends them. */
export interface LogPart {
  lines: readonly string[];
  times: readonly (string | null)[];
  /** The positions of lines that tell what happened to the server. */
  events: readonly number[];
}

export interface LogParts {
  time: string;
  text: string;
  level: "error" | "warn" | "info" | "event";
}

export const MOST = 100_000;

const STAMP = /^\[?(\d{4}-\d\d-\d\d[T ])?(\d\d:\d\d:\d\d)[.,]?\d*(?:Z|[+-]\d\d:?\d\d)?\]?\s*/;
const ERROR = /\b(error|critical|fatal|traceback|exception)\b/i;
const WARN = /\b(warn|warning)\b/i;

/** A line's local time, text and level; a time that the server wrote itself is taken out of the text. */
export function partsOf({ line, time, isEvent }: Omit<LogRow, "number">): LogParts {
  if (isEvent) return { time: clockTime(time), text: line, level: "event" };
  const stamp = STAMP.exec(line);
  const text = stamp ? line.slice(stamp[0].length) : line;
  return { time: time ? clockTime(time) : (stamp?.[2] ?? ""), text, level: levelOf(text) };
}

function clockTime(time: string | null): string {
  return time ? new Date(time).toTimeString().slice(0, 8) : "";
}

/** The line as it is copied and saved: its time, and `*` for one that tells what happened. */
export function savedLine({ line, time, isEvent }: LogRow): string {
  return `${time ? `${time} ` : ""}${isEvent ? "* " : ""}${line}`;
}

function levelOf(text: string): "error" | "warn" | "info" {
  if (ERROR.test(text)) return "error";
  return WARN.test(text) ? "warn" : "info";
}

/** A text split around the word that states its level. */
export function graveWord(text: string): [string, string, string] {
  const found = ERROR.exec(text) ?? WARN.exec(text);
  if (!found) return [text, "", ""];
  const end = found.index + found[0].length;
  return [text.slice(0, found.index), found[0], text.slice(end)];
}

/** The old rows and the new lines; the oldest go when there are too many. */
export function added(rows: LogRow[], { lines, times, events }: LogPart, from: number): LogRow[] {
  const fresh = lines.map((line, index) => ({
    number: from + index,
    line,
    time: times[index] ?? null,
    isEvent: false,
  }));
  for (const index of events) if (fresh[index]) fresh[index].isEvent = true;
  const all = rows.concat(fresh);
  return all.length > MOST ? all.slice(all.length - MOST) : all;
}

/** `level:error` and plain words; all of them must fit. */
export function filtered(rows: LogRow[], filter: string): LogRow[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return rows;
  const levels = words.filter((word) => word.startsWith("level:")).map((word) => word.slice(6));
  const plain = words.filter((word) => !word.startsWith("level:"));
  return rows.filter(({ line, isEvent }) => {
    const small = line.toLowerCase();
    if (!plain.every((word) => small.includes(word))) return false;
    return levels.length === 0 || levels.includes(isEvent ? "event" : levelOf(line));
  });
}

/** The lines of a log: how many are kept, words that mark errors and warnings, recognized timestamps, the filter
(`level:error`). Pure.

A line is read only when it is drawn or filtered by level: a hundred thousand come at once. */

export interface LogRow {
  /** Its place since we listen, so that a row keeps its identity. */
  number: number;
  line: string;
}

export interface LogParts {
  time: string;
  text: string;
  level: "error" | "warn" | "info";
}

export const MOST = 100_000;

const STAMP = /^\[?(\d{4}-\d\d-\d\d[T ])?(\d\d:\d\d:\d\d)[.,]?\d*(?:Z|[+-]\d\d:?\d\d)?\]?\s*/;
const ERROR = /\b(error|critical|fatal|traceback|exception)\b/i;
const WARN = /\b(warn|warning)\b/i;

/** A line's time, text and level. */
export function partsOf(line: string): LogParts {
  const stamp = STAMP.exec(line);
  const text = stamp ? line.slice(stamp[0].length) : line;
  return { time: stamp?.[2] ?? "", text, level: levelOf(text) };
}

function levelOf(text: string): LogParts["level"] {
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
export function added(rows: LogRow[], lines: readonly string[], from: number): LogRow[] {
  const all = rows.concat(lines.map((line, index) => ({ number: from + index, line })));
  return all.length > MOST ? all.slice(all.length - MOST) : all;
}

/** `level:error` and plain words; all of them must fit. */
export function filtered(rows: LogRow[], filter: string): LogRow[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return rows;
  const levels = words.filter((word) => word.startsWith("level:")).map((word) => word.slice(6));
  const plain = words.filter((word) => !word.startsWith("level:"));
  return rows.filter(({ line }) => {
    const small = line.toLowerCase();
    if (!plain.every((word) => small.includes(word))) return false;
    return levels.length === 0 || levels.includes(levelOf(line));
  });
}

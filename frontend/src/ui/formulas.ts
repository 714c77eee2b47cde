/** Finds the maths in Markdown: $…$, $$…$$, \(…\) and \[…\], and what only looks like it, such as prices, shell variables
 * and code. Pure. */

export interface Formula {
  tex: string;
  display: boolean;
  /** As it was written, with its marks. */
  source: string;
}

/** A mark in the place of each formula, which Markdown passes on unchanged: characters for private use. */
const MARK = /\uE000(\d+)\uE001/g;
const LONGEST = 5_000;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;

/** The text with marks for its formulas; null if it has none. */
export function markedMaths(text: string): { text: string; formulas: Formula[] } | null {
  if (!/\$|\\[([]/.test(text)) return null;
  const formulas: Formula[] = [];
  const marked = outsideFences(text, (part) => replaced(part, formulas));
  return formulas.length > 0 ? { text: marked, formulas } : null;
}

/** A text with marks, split into what is written and formulas. */
export function atMarks(text: string, formulas: readonly Formula[]): (string | Formula)[] {
  const parts: (string | Formula)[] = [];
  let end = 0;
  for (const found of text.matchAll(MARK)) {
    const formula = formulas[Number(found[1])];
    if (!formula) continue;
    parts.push(text.slice(end, found.index), formula);
    end = found.index + found[0].length;
  }
  return [...parts, text.slice(end)].filter((part) => part !== "");
}

/** A text with marks as it was written. */
export function withoutMarks(text: string, formulas: readonly Formula[]): string {
  return text.replace(MARK, (mark, number) => formulas[Number(number)]?.source ?? mark);
}

function outsideFences(text: string, change: (part: string) => string): string {
  const parts: string[] = [];
  let open: string[] = [];
  let fence = "";
  const close = () => {
    if (open.length > 0) parts.push(change(open.join("\n")));
    open = [];
  };
  for (const line of text.split("\n")) {
    const mark = FENCE.exec(line)?.[1] ?? "";
    if (fence) {
      parts.push(line);
      if (mark.startsWith(fence) && line.trim() === mark) fence = "";
    } else if (mark) {
      close();
      parts.push(line);
      fence = mark;
    } else open.push(line);
  }
  close();
  return parts.join("\n");
}

function replaced(text: string, formulas: Formula[]): string {
  let result = "";
  for (let at = 0; at < text.length;) {
    const code = codeAt(text, at);
    const found = code === 0 ? formulaAt(text, at) : null;
    const length = code || (found?.source.length ?? (text[at] === "\\" ? 2 : 1));
    if (found) result += `\uE000${formulas.push(found) - 1}\uE001`;
    else result += text.slice(at, at + length);
    at += length;
  }
  return result;
}

/** The length of the code span that begins here; of backticks that nothing closes, theirs. */
function codeAt(text: string, at: number): number {
  const ticks = /^`+/.exec(text.slice(at, at + 100))?.[0].length ?? 0;
  if (ticks === 0) return 0;
  const end = new RegExp(`(?<!\`)\`{${ticks}}(?!\`)`, "g");
  end.lastIndex = at + ticks;
  const closed = end.exec(text);
  return closed && !/\n\s*\n/.test(text.slice(at, closed.index)) ? closed.index + ticks - at : ticks;
}

function formulaAt(text: string, at: number): Formula | null {
  if (text.startsWith("\\(", at)) return between(text, at, "\\(", "\\)", false);
  if (text.startsWith("\\[", at)) return between(text, at, "\\[", "\\]", true);
  if (text.startsWith("$$", at)) return between(text, at, "$$", "$$", true);
  return text[at] === "$" && !/[\w$]/.test(text[at - 1] ?? "") ? inDollars(text, at) : null;
}

function between(text: string, at: number, open: string, close: string, display: boolean): Formula | null {
  const near = text.slice(at, at + LONGEST);
  const end = near.indexOf(close, open.length);
  return end < 0 ? null : formula(near.slice(0, end + close.length), open.length, display);
}

/** As in Pandoc, no space stands inside of either dollar, and no letter or digit after the second. */
function inDollars(text: string, at: number): Formula | null {
  const source = /^\$(?!\s)((?:\\[^\n]|[^\\$])+?)(?<!\s)\$(?![\w$])/.exec(text.slice(at, at + LONGEST))?.[0];
  const found = source ? formula(source, 1, false) : null;
  return found && !isProse(found.tex) ? found : null;
}

function formula(source: string, mark: number, display: boolean): Formula | null {
  const tex = source.slice(mark, -mark).trim();
  if (tex === "" || /\n[ \t]*\n/.test(tex)) return null;
  return { tex, display, source };
}

/** Words between two amounts, as in "$5 to about 10$". */
function isProse(tex: string): boolean {
  return !/[\\^_{}=<>]/.test(tex) && /\s/.test(tex) && /[A-Za-z]{2,}/.test(tex);
}

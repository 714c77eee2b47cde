/** Hints of the host for a page that shows the server's log: without "See it with `toolcrib logs`". */

const COMMAND = /(?:See its log with: |See `)toolcrib logs [^\s`;]+`?[.;]?\s*/;
const MENTION = / with `toolcrib logs [^`]+`/;

export function pageHint(hint: string): string {
  const left = hint.replace(COMMAND, "").replace(MENTION, " in its log");
  return left.slice(0, 1).toUpperCase() + left.slice(1);
}

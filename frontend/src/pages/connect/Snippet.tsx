/** The entry for a config file as it is shown and copied: lists on one line, highlighted keys and texts. */

import type { ReactNode } from "react";

import { Copy } from "../../ui/Copy";

/** An entry as it is in the file, with highlighted keys and strings. */
export function Snippet({ text }: { text: string }) {
  const shown = onOneLine(text);
  return (
    <div className="snippet">
      <pre className="code wrap">{coloured(shown)}</pre>
      <Copy text={shown} />
    </div>
  );
}

const LIST = /\[\n\s+("(?:[^"\\]|\\.)*"(?:,\n\s+"(?:[^"\\]|\\.)*")*)\n\s*\]/g;
const LONGEST = 200;

/** Lists of texts on one line, as people write them; the same JSON. */
export function onOneLine(text: string): string {
  return text.replace(LIST, (whole, inner: string) => {
    const line = `[${inner.replace(/,\n\s+/g, ", ")}]`;
    return line.length <= LONGEST ? line : whole;
  });
}

const PART = /("(?:[^"\\]|\\.)*")(\s*:)?/g;

function coloured(text: string): ReactNode[] {
  const parts: ReactNode[] = [];
  let last = 0;
  for (const found of text.matchAll(PART)) {
    parts.push(text.slice(last, found.index));
    parts.push(
      <span key={found.index} className={found[2] ? "code-key" : "code-string"}>
        {found[1]}
      </span>,
      found[2] ?? "",
    );
    last = found.index + found[0].length;
  }
  return [...parts, text.slice(last)];
}

/** Two texts as one, with removed and added lines and new words marked. Which lines differ is in `difference.ts`. */

import { markLines } from "./changedWords";
import { differenceOf, type Line } from "./difference";

/** The sign of a changed line takes the place of its indent. */
function outdented(line: Line): string {
  return line.kind === "same" ? line.text : line.text.replace(/^ {2}/, "");
}

/** Two texts as one, with what went and what came; `marked` shows new words inside a line. */
export function Difference({ before, after, marked = false }: { before: string; after: string; marked?: boolean }) {
  const lines = differenceOf(before, after);
  const pieces = marked ? markLines(lines) : [];
  return (
    <pre className="code wrap diff">
      {lines.map((line, index) => (
        <span
          key={index}
          className={line.kind === "same" ? "diff-context" : line.kind === "added" ? "diff-added" : "diff-removed"}
        >
          <span className="visually-hidden">
            {line.kind === "added" ? "added: " : line.kind === "removed" ? "removed: " : ""}
          </span>
          {line.kind === "added" ? "+ " : line.kind === "removed" ? "- " : marked ? "" : "  "}
          {pieces[index]?.map((piece, place) => (piece.fresh ? <mark key={place}>{piece.text}</mark> : piece.text)) ??
            (marked ? outdented(line) : line.text)}
          {"\n"}
        </span>
      ))}
    </pre>
  );
}

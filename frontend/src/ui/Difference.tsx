import { differenceOf } from "./difference";

/** Two texts as one, with what went and what came. */
export function Difference({ before, after }: { before: string; after: string }) {
  return (
    <pre className="code wrap dfx">
      {differenceOf(before, after).map((line, index) => (
        <span key={index} className={line.kind === "same" ? "ctx" : line.kind === "added" ? "add" : "del"}>
          <span className="sr">{line.kind === "added" ? "added: " : line.kind === "removed" ? "removed: " : ""}</span>
          {line.kind === "added" ? "+ " : line.kind === "removed" ? "- " : "  "}
          {line.text}
          {"\n"}
        </span>
      ))}
    </pre>
  );
}

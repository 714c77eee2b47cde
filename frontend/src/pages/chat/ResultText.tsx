/** What a tool said: a tree where it is JSON, text with structure where it has some, else as it is. Always data. */

import { useMemo, useState } from "react";

import { reveal } from "../../ui/hidden";
import { Markdown } from "../../ui/Markdown";
import { TEXT } from "./text";
import "./cards.css";
import "./text.css";

const MOST_SHOWN = 20_000;
const STRUCTURE = /^(#{1,4} |\s*\|.+\|\s*$|```|\s*[-*] \S)/m;

export function ResultText({ text, failed }: { text: string; failed: boolean }) {
  const [all, setAll] = useState(false);
  const tree = useMemo(() => asJson(text), [text]);
  const part = all ? text : text.slice(0, MOST_SHOWN);
  if (tree !== undefined)
    return (
      <div className="code wrap json-tree">
        <Tree value={tree} depth={0} />
      </div>
    );
  return (
    <>
      {!failed && STRUCTURE.test(part) && part.length < MOST_SHOWN ? (
        <div className="answer result-text">
          <Markdown text={reveal(part)} />
        </div>
      ) : (
        <pre className="code wrap" dir="auto">
          {reveal(part)}
        </pre>
      )}
      {part.length < text.length && (
        <button type="button" className="plain-button link-button text-small" onClick={() => setAll(true)}>
          {TEXT.showAll}
        </button>
      )}
    </>
  );
}

function asJson(text: string): unknown {
  const trimmed = text.trim();
  if (trimmed.length > MOST_SHOWN || !/^[[{]/.test(trimmed)) return undefined;
  try {
    return JSON.parse(trimmed) as unknown;
  } catch {
    return undefined;
  }
}

function Tree({ name, value, depth }: { name?: string; value: unknown; depth: number }) {
  const label = name === undefined ? null : <span className="code-key">{reveal(name)}: </span>;
  if (value === null || typeof value !== "object")
    return (
      <div>
        {label}
        <Leaf value={value} />
      </div>
    );
  const entries = Object.entries(value);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  if (entries.length === 0)
    return (
      <div>
        {label}
        {open}
        {close}
      </div>
    );
  return (
    <details open={depth < 2 && entries.length <= 50}>
      <summary>
        {label}
        {open} <span className="muted">{entries.length}</span> {close}
      </summary>
      <div className="json-children">
        {entries.slice(0, 500).map(([key, inner]) => (
          <Tree key={key} {...(Array.isArray(value) ? {} : { name: key })} value={inner} depth={depth + 1} />
        ))}
      </div>
    </details>
  );
}

function Leaf({ value }: { value: unknown }) {
  if (typeof value === "string") return <span className="code-string">{reveal(JSON.stringify(value))}</span>;
  return <span className="code-number">{String(value)}</span>;
}

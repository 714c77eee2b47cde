/** The text that a tool returned: a tree if it is JSON (entries shown, levels open at first), Markdown if it has
 * structure, else plain text. Always shown as data. */

import { useMemo, useState, type ReactNode } from "react";

import { characters } from "../../ui/amounts";
import { reveal } from "../../ui/hidden";
import { BEGINNING, LongText } from "../../ui/LongText";
import { Markdown } from "../../ui/LazyMarkdown";
import { TEXT } from "./text";
import "./cards.css";
import "./text.css";

const MOST_ENTRIES = 500;
const STRUCTURE = /^(#{1,4} |\s*\|.+\|\s*$|```|\s*[-*] \S)/m;

interface Props {
  text: string;
  failed: boolean;
  /** How long it was, if only its beginning is kept. */
  total?: number | undefined;
}

export function ResultText({ text, failed, total }: Props) {
  const tree = useMemo(() => asJson(text), [text]);
  const whole = text.length < BEGINNING && (total === undefined || total === characters(text));
  return (
    <LongText text={text} {...(total === undefined ? {} : { total })} label={TEXT.result}>
      {whole ? drawn(text, tree, failed) : undefined}
    </LongText>
  );
}

function drawn(text: string, tree: unknown, failed: boolean): ReactNode {
  if (tree !== undefined)
    return (
      <div className="code wrap json-tree">
        <Tree value={tree} depth={0} />
      </div>
    );
  if (failed || !STRUCTURE.test(text)) return undefined;
  return (
    <div className="answer result-text">
      <Markdown text={reveal(text)} />
    </div>
  );
}

function asJson(text: string): unknown {
  const trimmed = text.trim();
  if (trimmed.length > BEGINNING || !/^[[{]/.test(trimmed) || !hasExactNumbers(trimmed)) return undefined;
  try {
    return JSON.parse(trimmed) as unknown;
  } catch {
    return undefined;
  }
}

/** Whether no number is rounded by reading it, such as a long id. */
function hasExactNumbers(json: string): boolean {
  const numbers = json.replaceAll(/"(?:[^"\\]|\\.)*"/g, "").match(/-?\d[\d.eE+-]*/g) ?? [];
  return numbers.every((one) => (one.length < 16 ? isFinite(Number(one)) : String(Number(one)) === one));
}

function Tree({ name, value, depth }: { name?: string; value: unknown; depth: number }) {
  const [all, setAll] = useState(false);
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
        {entries.slice(0, all ? entries.length : MOST_ENTRIES).map(([key, inner]) => (
          <Tree key={key} {...(Array.isArray(value) ? {} : { name: key })} value={inner} depth={depth + 1} />
        ))}
        {!all && entries.length > MOST_ENTRIES && (
          <button type="button" className="plain-button link-button" onClick={() => setAll(true)}>
            {TEXT.showEntries(entries.length)}
          </button>
        )}
      </div>
    </details>
  );
}

function Leaf({ value }: { value: unknown }) {
  if (typeof value === "string") return <span className="code-string">{reveal(JSON.stringify(value))}</span>;
  return <span className="code-number">{String(value)}</span>;
}

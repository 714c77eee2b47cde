/** One row of the list of tools: name, tag, marked words, bar and number of its score, and the reasons for its rank.
 * The host computes the score. */

import type { ReactNode } from "react";

import type { RankedTool, ShelfTool } from "../../api/types";
import { count, thousands } from "../../ui/amounts";
import { reveal } from "../../ui/hidden";
import { tag, TEXT } from "./text";

interface Props {
  tool: ShelfTool | RankedTool;
  number: number | null;
  on: boolean;
  /** Words of the question, to be marked in the description. */
  marked: readonly string[];
  onOpen: () => void;
  index: number;
  measure: (element: Element | null) => void;
}

export function isRanked(tool: ShelfTool | RankedTool): tool is RankedTool {
  return "fit" in tool;
}

/** One tool: its name, its description and the reason for its rank. */
export function Row({ tool, number, on, marked, onOpen, index, measure }: Props) {
  const word = tag(tool);
  const away = tool.standing !== "ready";
  return (
    <li
      className={`tool-row${on ? " selected" : ""}${away ? " not-ready" : ""}`}
      data-tool={tool.name}
      data-index={index}
      ref={measure}
    >
      <span className="row-number">{number ?? ""}</span>
      <div className="grow">
        <button
          type="button"
          className="plain-button tool-name row-button"
          aria-current={on ? "true" : undefined}
          onClick={onOpen}
          data-row
        >
          {tool.server && <i>{reveal(tool.server)} · </i>}
          {reveal(tool.tool)}
        </button>
        {word && <span className="tag">{word}</span>}
        <p className="ellipsis">{mark(reveal(firstLine(tool.description)), marked)}</p>
      </div>
      <span className="tool-score">
        {isRanked(tool) ? <Score tool={tool} /> : <span className="num">{count(tool.tokens)}</span>}
      </span>
      <div className="tool-reasons">{isRanked(tool) ? <Reasons tool={tool} /> : <Standing tool={tool} />}</div>
    </li>
  );
}

function Score({ tool }: { tool: RankedTool }) {
  if (tool.always_on && tool.fit === 0) return <>{TEXT.always}</>;
  return (
    <>
      <span className="bar" aria-hidden="true">
        <i className="bar-words" style={{ width: percent(tool.by_words) }} />
        <i className="bar-meaning" style={{ width: percent(tool.by_meaning) }} />
        <i className="bar-name" style={{ width: percent(tool.by_name) }} />
      </span>
      {tool.fit.toFixed(2)}
    </>
  );
}

function percent(part: number): string {
  return `${Math.round(part * 100)}%`;
}

function Reasons({ tool }: { tool: RankedTool }) {
  return (
    <>
      {tool.always_on && <span>{TEXT.alwaysOn}</span>}
      {tool.by_name > 0 && (
        <span>
          <b>{TEXT.name}</b> in the question
        </span>
      )}
      {tool.words.length > 0 && (
        <span>
          <b>{TEXT.words}</b> {reveal(tool.words.join(", "))}
        </span>
      )}
      {tool.by_meaning > 0 && (
        <span>
          <b>{TEXT.meaning}</b> {tool.by_meaning.toFixed(2)}
        </span>
      )}
      {tool.used > 0 && <span>used {thousands(tool.used)}×</span>}
      {tool.why_not && <span>{tool.why_not}</span>}
    </>
  );
}

function Standing({ tool }: { tool: ShelfTool }) {
  return (
    <>
      {tool.always_on && <span>{TEXT.alwaysOn}</span>}
      {tool.why_not && <span>{tool.why_not}</span>}
    </>
  );
}

function firstLine(text: string): string {
  return text.trim().split("\n", 1)[0] ?? "";
}

/** The text with the words of the question underlined. */
function mark(text: string, words: readonly string[]): ReactNode {
  const found = words.filter((word) => word.length > 2).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (found.length === 0) return text;
  const parts = text.split(new RegExp(`(${found.join("|")})`, "gi"));
  return parts.map((part, index) => (index % 2 === 1 ? <mark key={index}>{part}</mark> : part));
}

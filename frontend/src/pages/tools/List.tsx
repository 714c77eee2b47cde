/** The list of tools, with the line below which nothing is offered, "Show", and keys of its rows (p, b, dot). The host
 * ranks the tools. */

import { useRef, useState, type KeyboardEvent } from "react";

import type { RankedTool, Ranking, ShelfTool } from "../../api/types";
import { useWindow } from "../../ui/window";
import { Row } from "./Row";
import { TEXT } from "./text";

interface Props {
  tools: readonly (ShelfTool | RankedTool)[];
  ranking: Ranking | null;
  selected: string | null;
  onOpen: (name: string) => void;
  onPin: (tool: ShelfTool) => void;
  onBan: (tool: ShelfTool) => void;
}

/** The tools, with the line below which nothing is offered. */
export function List({ tools, ranking, selected, onOpen, onPin, onBan }: Props) {
  const [below, setBelow] = useState(false);
  const cut = ranking && !ranking.all_offered ? lastOffered(ranking) + 1 : tools.length;
  const shown = below ? tools : tools.slice(0, cut);
  const rest = ranking ? Math.max(0, ranking.ready - ranking.offered) : 0;

  function keys(event: KeyboardEvent) {
    const row = (event.target as HTMLElement).closest<HTMLElement>("[data-tool]");
    const tool = tools.find((one) => one.name === row?.dataset["tool"]);
    if (!row || !tool || event.metaKey || event.ctrlKey || event.altKey) return;
    if (event.key === "ArrowDown" || event.key === "j") move(row, 1);
    else if (event.key === "ArrowUp" || event.key === "k") move(row, -1);
    else if (event.key === "p") onPin(tool);
    else if (event.key === "b") onBan(tool);
    else if (event.key === ".") openActions(tool.name, onOpen);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  return (
    <div onKeyDown={keys}>
      <Part tools={shown.slice(0, cut)} from={0} {...{ ranking, selected, onOpen }} />
      {ranking && rest > 0 && !ranking.all_offered && (
        <div className="offer-limit">
          <span className="grow num">
            {TEXT.below(rest)}
            <code>search_tools</code>.
          </span>
          {tools.length > cut && (
            <button
              type="button"
              className="plain-button link-button"
              aria-expanded={below}
              onClick={() => setBelow(!below)}
            >
              {below ? TEXT.hide : TEXT.show}
            </button>
          )}
        </div>
      )}
      {below && <Part tools={shown.slice(cut)} from={cut} {...{ ranking, selected, onOpen }} />}
      {below && ranking && rest > tools.length - cut && (
        <p className="muted text-small list-end">{TEXT.farther(rest - (tools.length - cut))}</p>
      )}
    </div>
  );
}

/** The menu of its panel, where there is one beside the list. */
function openActions(name: string, onOpen: (name: string) => void): void {
  onOpen(name);
  let tries = 40; // The panel comes with the answer of the host.
  const look = () => {
    const menu = document.querySelector<HTMLElement>(`.page-tools [data-shown="${CSS.escape(name)}"] [data-actions]`);
    menu?.focus();
    if (menu) menu.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
    else if (tries-- > 0) setTimeout(look, 50);
  };
  look();
}

function lastOffered(ranking: Ranking): number {
  return ranking.tools.findLastIndex((tool) => tool.offered);
}

function move(row: HTMLElement, step: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>(".page-tools [data-row]")];
  const here = rows.findIndex((one) => row.contains(one));
  const next = rows[here + step];
  if (next) next.focus();
  else if (here + step < 0) document.querySelector<HTMLElement>(".page-tools [data-search]")?.focus();
}

interface PartProps {
  tools: readonly (ShelfTool | RankedTool)[];
  from: number;
  ranking: Ranking | null;
  selected: string | null;
  onOpen: (name: string) => void;
}

function Part({ tools, from, ranking, selected, onOpen }: PartProps) {
  const list = useRef<HTMLOListElement>(null);
  const view = useWindow({
    count: tools.length,
    height: ranking ? 82 : 60,
    keyOf: (index) => tools[index]?.name ?? index,
    anchor: list,
  });
  return (
    <ol
      ref={list}
      aria-label={ranking ? TEXT.ranking : TEXT.everything}
      style={{ paddingTop: view.before, paddingBottom: view.after }}
    >
      {view.rows.map(({ index, key }) => {
        const tool = tools[index] as ShelfTool | RankedTool;
        return (
          <Row
            key={key}
            tool={tool}
            number={ranking ? from + index + 1 : null}
            on={tool.name === selected}
            marked={"words" in tool ? tool.words : []}
            onOpen={() => onOpen(tool.name)}
            index={index}
            measure={view.measure}
          />
        );
      })}
    </ol>
  );
}

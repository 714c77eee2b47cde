/** The table of servers in groups, its columns, and from how many rows only those in view are drawn. The order is in
 * `model.ts`, when a row may move in `stableOrder.ts`. */

import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useRef, useState, type FocusEvent, type ReactNode } from "react";

import type { MenuEntry } from "../../ui/Menu";
import type { Group, Row, Way } from "./model";
import { ServerRow } from "./ServerRow";
import type { StableOrder } from "./stableOrder";
import { GROUPS, PAGE } from "./text";

type Item = { kind: "head"; group: Group; count: number } | { kind: "row"; row: Row };

/** From so many lines on only those in view are drawn. */
const MANY = 100;

interface Props {
  steady: StableOrder;
  rows: readonly Row[];
  now: number;
  onAct: (row: Row, way: Way) => void;
  menuOf: (row: Row) => MenuEntry[];
}

/** The servers in groups, as a table with the name as the head of each row. */
export function List({ steady, rows, now, onAct, menuOf }: Props) {
  const [current, setCurrent] = useState("");
  const table = useRef<HTMLDivElement>(null);
  const items = itemsOf(rows);
  const most = Math.max(1, ...rows.flatMap((row) => row.server?.bars.map((bar) => bar.calls) ?? []));
  const first = rows.some((row) => row.name === current) ? current : (rows[0]?.name ?? "");
  const focused = useCallback((name: string) => setCurrent(name), []);
  const draw = (item: Item, index: number): ReactNode =>
    item.kind === "head" ? (
      <div className="group-head" role="row" aria-rowindex={index + 2} key={item.group}>
        <span role="cell" aria-colspan={7} className="row">
          {GROUPS[item.group]} <span className="number num">{item.count}</span>
        </span>
      </div>
    ) : (
      <ServerRow
        key={item.row.name}
        row={item.row}
        index={index + 2}
        now={now}
        most={most}
        current={item.row.name === first}
        onAct={onAct}
        menuOf={menuOf}
        onFocus={focused}
      />
    );
  const leave = (event: FocusEvent) => !table.current?.contains(event.relatedTarget) && steady.onFocus(false);
  return (
    <>
      {steady.changed && (
        <p className="order-changed muted text-small" role="status">
          {PAGE.orderChanged}{" "}
          <button type="button" className="plain-button link-button" onClick={steady.sort}>
            {PAGE.sortAgain}
          </button>
        </p>
      )}
      <div
        ref={table}
        role="table"
        aria-label={PAGE.title}
        aria-rowcount={items.length + 1}
        onPointerEnter={(event) => event.pointerType === "mouse" && steady.onPointer(true)}
        onPointerLeave={() => steady.onPointer(false)}
        onFocus={() => steady.onFocus(true)}
        onBlur={leave}
      >
        <Heads />
        {items.length > MANY ? (
          <Window items={items} draw={draw} />
        ) : (
          <div className="server-table" role="rowgroup">
            {items.map(draw)}
          </div>
        )}
      </div>
    </>
  );
}

function Heads() {
  return (
    <div role="rowgroup">
      <div className="column-heads" role="row" aria-rowindex={1}>
        <span role="columnheader">State</span>
        <span role="columnheader">Server</span>
        <span role="columnheader" className="number">
          Tools
        </span>
        <span role="columnheader" className="number hide-medium">
          Tokens
        </span>
        <span role="columnheader" className="number hide-medium">
          Calls, 24 h
        </span>
        <span role="columnheader" className="number hide-medium">
          Typical
        </span>
        <span role="columnheader">
          <span className="visually-hidden">Actions</span>
        </span>
      </div>
    </div>
  );
}

/** Only what is in view; the page itself scrolls. */
function Window({ items, draw }: { items: readonly Item[]; draw: (item: Item, index: number) => ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  const view = useVirtualizer({
    count: items.length,
    getScrollElement: () => document.getElementById("main"),
    estimateSize: (index) => (items[index]?.kind === "head" ? 34 : innerWidth <= 820 ? 122 : 53),
    getItemKey: (index) => keyOf(items[index]),
    scrollMargin: box.current?.offsetTop ?? 0,
    overscan: 10,
  });
  return (
    <div ref={box} className="server-table virtual-list" role="rowgroup" style={{ height: view.getTotalSize() }}>
      {view.getVirtualItems().map((line) => {
        const item = items[line.index];
        if (!item) return null;
        return (
          <div
            key={line.key}
            ref={view.measureElement}
            data-index={line.index}
            role="presentation"
            className="virtual-row"
            style={{ transform: `translateY(${line.start - view.options.scrollMargin}px)` }}
          >
            {draw(item, line.index)}
          </div>
        );
      })}
    </div>
  );
}

function keyOf(item: Item | undefined): string {
  if (!item) return "";
  return item.kind === "head" ? `group ${item.group}` : item.row.name;
}

function itemsOf(rows: readonly Row[]): Item[] {
  const items: Item[] = [];
  let last: Group | null = null;
  for (const row of rows) {
    if (row.group !== last)
      items.push({ kind: "head", group: row.group, count: rows.filter((one) => one.group === row.group).length });
    last = row.group;
    items.push({ kind: "row", row });
  }
  return items;
}

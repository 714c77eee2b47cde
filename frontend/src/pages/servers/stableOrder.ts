/** How long a row of the list of servers keeps its place: it moves only after its state has held for two seconds, and
 * never under the pointer or the focus ("Sort again"). */

import { useCallback, useEffect, useRef, useState } from "react";

import { groupOfRank, type Row } from "./model";

/** How long a state must have held before its row moves. */
const HELD = 2000;

/** The position of each row: a new row is sorted in at once, a known one moves late. */
export interface StableOrder {
  rows: Row[];
  /** The order is outdated, because the pointer or focus is in the list. */
  changed: boolean;
  sort: () => void;
  onPointer: (inside: boolean) => void;
  onFocus: (inside: boolean) => void;
}

/** Rows in groups that do not jump: not before a state has held for 2 s, never under a pointer or the focus. */
export function useStableOrder(rows: readonly Row[]): StableOrder {
  const shown = useRef(new Map<string, number>());
  const wanted = useRef(new Map<string, { rank: number; since: number }>());
  const [pointed, onPointer] = useState(false);
  const [focused, onFocus] = useState(false);
  const inside = pointed || focused;
  const [, redraw] = useState(0);
  const now = Date.now();
  let waits = 0;
  for (const row of rows) {
    const known = wanted.current.get(row.name);
    if (known?.rank !== row.rank) wanted.current.set(row.name, { rank: row.rank, since: known ? now : now - HELD });
    const want = wanted.current.get(row.name) ?? { rank: row.rank, since: now };
    const position = shown.current.get(row.name);
    if (position === undefined) shown.current.set(row.name, row.rank);
    else if (position !== row.rank) {
      if (!inside && now - want.since >= HELD) shown.current.set(row.name, row.rank);
      else waits = waits === 0 ? want.since + HELD : Math.min(waits, want.since + HELD);
    }
  }
  forget(shown.current, wanted.current, rows);
  const changed =
    inside &&
    rows.some(
      (row) => shown.current.get(row.name) !== row.rank && now - (wanted.current.get(row.name)?.since ?? now) >= HELD,
    );
  useEffect(() => {
    if (waits === 0 || (inside && changed)) return;
    const timer = setTimeout(() => redraw((count) => count + 1), Math.max(50, waits - Date.now()));
    return () => clearTimeout(timer);
  }, [waits, inside, changed]);
  const sort = useCallback(() => {
    shown.current.clear();
    redraw((count) => count + 1);
  }, []);
  const positionOf = (row: Row): number => shown.current.get(row.name) ?? row.rank;
  const sorted = rows
    .map((row) => ({ ...row, rank: positionOf(row), group: groupOfRank(positionOf(row)) }))
    .sort((one, other) => one.rank - other.rank);
  return { rows: sorted, changed, sort, onPointer, onFocus };
}

function forget(shown: Map<string, number>, wanted: Map<string, unknown>, rows: readonly Row[]): void {
  if (shown.size === rows.length) return;
  const names = new Set(rows.map((row) => row.name));
  for (const name of shown.keys()) {
    if (!names.has(name)) {
      shown.delete(name);
      wanted.delete(name);
    }
  }
}

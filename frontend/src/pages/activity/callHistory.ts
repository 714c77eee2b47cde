/** The record of calls as the table shows it: calls per page, new ones taken in at once at the top of the list or kept
 * waiting while it is scrolled. */

import { useCallback, useEffect, useRef, useState } from "react";

import { run } from "../../api/client";
import { useLive } from "../../api/hooks";
import type { LiveEvent } from "../../api/live";
import type { Call, Calls } from "../../api/types";

const PAGE = 200;
const REST = 300; // Milliseconds in which a burst of news becomes one look.

export interface Record {
  /** The answer that came last, for its numbers. */
  latest: Calls | null;
  rows: Call[];
  more: boolean;
  fresh: Call[];
  error: unknown;
  loading: boolean;
}

const EMPTY: Record = { latest: null, rows: [], more: false, fresh: [], error: null, loading: true };

/** `atTop` says whether new calls may be inserted at once, because the list is not scrolled. */
export function useCalls(
  words: string,
  atTop: () => boolean,
): { record: Record; older: () => void; take: () => void; again: () => void } {
  const [record, setRecord] = useState<Record>(EMPTY);
  const current = useRef(words);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  current.current = words;

  const again = useCallback(() => {
    const asked = current.current;
    run("calls", { words: asked, limit: PAGE }).then(
      (latest) =>
        asked === current.current &&
        setRecord({ latest, rows: latest.calls, more: latest.more, fresh: [], error: null, loading: false }),
      (error: unknown) => asked === current.current && setRecord((before) => ({ ...before, error, loading: false })),
    );
  }, []);
  useEffect(() => {
    setRecord((before) => ({ ...before, loading: true, error: null }));
    again();
  }, [words, again]);

  const look = useCallback(async () => {
    const asked = current.current;
    const latest = await run("calls", { words: asked, limit: PAGE, count: asked === "" }).catch(() => null);
    if (latest === null || asked !== current.current) return;
    setRecord((before) => {
      const known = new Set([...before.rows, ...before.fresh].map((call) => call.call_id));
      const fresh = [...latest.calls.filter((call) => !known.has(call.call_id)), ...before.fresh];
      if (fresh.length === 0 || !atTop()) return { ...before, latest, fresh };
      return { ...before, latest, rows: merged(fresh, before.rows), fresh: [] };
    });
  }, [atTop]);
  useLive(
    useCallback(
      (event: LiveEvent) => {
        if (!["call", "calls", "reset", "reconnected"].includes(event.kind)) return;
        clearTimeout(timer.current);
        timer.current = setTimeout(() => void look(), REST);
      },
      [look],
    ),
  );
  useEffect(() => () => clearTimeout(timer.current), []);

  const older = useCallback(() => {
    const last = record.rows.at(-1);
    if (!last || record.loading) return;
    const asked = words;
    setRecord((before) => ({ ...before, loading: true }));
    run("calls", { words, limit: PAGE, before: last.place, count: false }).then(
      (next) =>
        asked === current.current &&
        setRecord((before) => ({ ...before, rows: merged(before.rows, next.calls), more: next.more, loading: false })),
      (error: unknown) => setRecord((before) => ({ ...before, error, loading: false })),
    );
  }, [record.rows, record.loading, words]);
  const take = useCallback(
    () => setRecord((before) => ({ ...before, rows: merged(before.fresh, before.rows), fresh: [] })),
    [],
  );
  return { record, older, take, again };
}

/** Both, newest first, each call once. */
export function merged(some: readonly Call[], others: readonly Call[]): Call[] {
  const all = new Map([...some, ...others].map((call) => [call.call_id, call]));
  return [...all.values()].sort((one, other) => (one.time < other.time ? 1 : one.time > other.time ? -1 : 0));
}

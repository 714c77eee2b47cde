/** Follows the log of a server in the host: reconnecting, and lines that arrive while it is paused. */

import { useCallback, useEffect, useRef, useState } from "react";

import { stream } from "../../api/client";
import { useConnection } from "../../api/hooks";
import { added, MOST, type LogPart, type LogRow } from "./logLines";

const AGAIN = 2_000;

export interface LogView {
  rows: LogRow[];
  /** How many came since it was paused. */
  waiting: number;
  paused: boolean;
  pause: (paused: boolean) => void;
  loaded: boolean;
}

function amount(parts: readonly LogPart[]): number {
  return parts.reduce((sum, part) => sum + part.lines.length, 0);
}

/** A server's log as it grows. While paused, lines are kept apart and counted. */
export function useLog(name: string): LogView {
  const [rows, setRows] = useState<LogRow[]>([]);
  const [waiting, setWaiting] = useState(0);
  const [paused, setPaused] = useState(false);
  const [loaded, setLoaded] = useState(false);
  const held = useRef<LogPart[]>([]);
  const isPaused = useRef(false);
  const next = useRef(0);
  const connected = useConnection().state === "connected";

  const take = useCallback((part: LogPart) => {
    const from = next.current;
    next.current += part.lines.length;
    setRows((before) => added(before, part, from));
  }, []);

  useEffect(() => {
    if (!connected) return;
    const leaving = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    const follow = () => {
      setRows([]);
      next.current = 0;
      stream(
        "logs",
        { name, count: MOST, follow: true, batch: true },
        (news) => {
          setLoaded(true);
          if (!("lines" in news)) return; // Only batches were asked for.
          if (!isPaused.current) return take(news);
          held.current.push(news);
          while (amount(held.current) > MOST + news.lines.length) held.current.shift();
          setWaiting(Math.min(MOST, amount(held.current)));
        },
        leaving.signal,
      ).catch(() => {
        if (!leaving.signal.aborted) timer = setTimeout(follow, AGAIN);
      });
    };
    follow();
    return () => {
      leaving.abort();
      clearTimeout(timer);
    };
  }, [name, connected, take]);

  const pause = useCallback(
    (stop: boolean) => {
      isPaused.current = stop;
      setPaused(stop);
      if (stop) return;
      held.current.forEach(take);
      held.current = [];
      setWaiting(0);
    },
    [take],
  );

  return { rows, waiting, paused, pause, loaded };
}

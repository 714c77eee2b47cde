/** What the host records of a server's messages: looks every second while it records, which also keeps it going. */

import { useEffect, useState } from "react";

import { run } from "../../api/client";
import { useConnection } from "../../api/hooks";
import type { RecordedMessage } from "../../api/types";
import { joined } from "./trafficRows";

const POLL = 1_000;

interface Seen {
  rows: RecordedMessage[];
  recording: boolean;
  skipped: number;
}

export interface TrafficView extends Seen {
  loaded: boolean;
  error: unknown;
  record: (on: boolean) => void;
  clear: () => void;
  again: () => void;
}

const NOTHING: Seen = { rows: [], recording: false, skipped: 0 };

export function useTraffic(name: string): TrafficView {
  const [seen, setSeen] = useState<Seen | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [round, setRound] = useState(0);
  const connected = useConnection().state === "connected";

  useEffect(() => {
    if (!connected) return;
    const leaving = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    // From the first message in each round: a host that was restarted numbers them anew.
    let rows: RecordedMessage[] = [];
    const look = async () => {
      try {
        const found = await run("traffic", { name, after: rows.at(-1)?.number ?? 0 }, leaving.signal);
        if (leaving.signal.aborted) return;
        rows = joined(rows, found);
        const { recording, skipped } = found;
        const next = { rows, recording, skipped };
        setSeen((before) => (before && isSame(before, next) ? before : next));
        setError(null);
        if (recording) timer = setTimeout(() => void look(), POLL);
      } catch (caught) {
        if (!leaving.signal.aborted) setError(caught);
      }
    };
    void look();
    return () => {
      leaving.abort();
      clearTimeout(timer);
    };
  }, [name, connected, round]);

  const again = () => setRound((before) => before + 1);
  const change = (changing: Promise<unknown>) => void changing.then(again, setError);
  return {
    ...(seen ?? NOTHING),
    loaded: seen !== null,
    error,
    record: (on) => change(run("traffic_record", { name, on })),
    clear: () => change(run("traffic_clear", { name })),
    again,
  };
}

function isSame(before: Seen, next: Seen): boolean {
  return before.rows === next.rows && before.recording === next.recording && before.skipped === next.skipped;
}

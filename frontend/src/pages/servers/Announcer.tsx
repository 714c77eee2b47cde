import { useEffect, useRef, useState } from "react";

import { plural } from "../../ui/amounts";
import { serverState } from "../../ui/states";
import type { Row } from "./model";

const PAUSE = 5000;

/** Tells a screen reader of changed states, at most once in five seconds, several as one sentence. */
export function Announcer({ rows }: { rows: readonly Row[] }) {
  const known = useRef<Map<string, string> | null>(null);
  const waiting = useRef(new Map<string, string>());
  const last = useRef(0);
  const [said, setSaid] = useState("");
  useEffect(() => {
    const states = new Map(rows.map((row) => [row.name, serverState(row.server?.state ?? "installing", row.server?.held.length ?? 0).word]));
    if (known.current) {
      for (const [name, word] of states) {
        if (known.current.get(name) !== word) waiting.current.set(name, word);
      }
    }
    known.current = states;
    if (waiting.current.size === 0) return;
    const timer = setTimeout(() => {
      setSaid(wordsOf(waiting.current));
      waiting.current = new Map();
      last.current = Date.now();
    }, Math.max(200, last.current + PAUSE - Date.now()));
    return () => clearTimeout(timer);
  }, [rows]);
  return <div className="sr" aria-live="polite">{said}</div>;
}

function wordsOf(changes: ReadonlyMap<string, string>): string {
  const [first] = changes;
  if (changes.size === 1 && first) return `${first[0]}: ${first[1]}`;
  const running = [...changes.values()].filter((word) => word === "Running").length;
  const others = changes.size - running;
  const parts = [
    running > 0 ? `${plural(running, "server")} ${running === 1 ? "is" : "are"} running` : "",
    others > 0 ? `${plural(others, "server")} changed` : "",
  ];
  return parts.filter(Boolean).join(", ");
}

/** Announces changed server states to a screen reader, at most once in five seconds, and shows the notice
 * "Reconnected" after the host was away. */

import { useCallback, useEffect, useRef, useState } from "react";

import { run } from "../api/client";
import { queries, useLive } from "../api/hooks";
import type { LiveEvent } from "../api/live";
import type { Waiting } from "../api/types";
import { plural } from "../ui/amounts";
import { notify } from "./notices";
import { announcement, countChanges, stateOf, statesOf, wordOf } from "./serverChanges";

const PAUSE = 5000;

/** Follows the states of servers: tells a screen reader of them, at most once in five seconds and several as one
 *  sentence, and after the host was away how much changed meanwhile. */
export function Announcer() {
  const known = useRef(new Map<string, string>());
  const [said, tell] = useSpoken();
  useEffect(() => {
    queries.fetchQuery({ queryKey: ["servers", {}], queryFn: () => run("servers", {}) }).then(
      (servers) => (known.current = new Map([...statesOf(servers), ...known.current])),
      () => undefined, // The strip at the top says that the host is away.
    );
  }, []);
  useLive(
    useCallback(
      (event: LiveEvent) => {
        if (event.kind === "reconnected") void compare(known);
        if (event.kind === "server_removed") known.current.delete(event.name);
        if (event.kind !== "server") return;
        const { server } = event;
        const before = known.current.get(server.name)?.split(",")[0];
        known.current.set(server.name, stateOf(server));
        if (before !== undefined && before !== wordOf(server)) tell(server.name, wordOf(server));
      },
      [tell],
    ),
  );
  return (
    <div className="visually-hidden" aria-live="polite" data-said>
      {said}
    </div>
  );
}

/** The sentence that is said now, and a way to add to the next one. */
function useSpoken(): [string, (name: string, word: string) => void] {
  const [said, setSaid] = useState("");
  const next = useRef(new Map<string, string>());
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const last = useRef(0);
  const tell = useCallback((name: string, word: string) => {
    next.current.set(name, word);
    timer.current ??= setTimeout(
      () => {
        timer.current = undefined;
        last.current = Date.now();
        setSaid(announcement(next.current));
        next.current = new Map();
      },
      Math.max(200, last.current + PAUSE - Date.now()),
    );
  }, []);
  useEffect(() => () => clearTimeout(timer.current), []);
  return [said, tell];
}

async function compare(known: { current: Map<string, string> }): Promise<void> {
  const waited = queries.getQueryData<Waiting>(["waiting", {}])?.items ?? [];
  const before = new Map(known.current); // A copy: news that comes meanwhile is not how it was.
  try {
    const [servers, waiting] = await Promise.all([run("servers", {}), run("waiting", {})]);
    known.current = statesOf(servers);
    const changed = countChanges(before, known.current, waited, waiting.items);
    notify(changed ? `Reconnected. ${plural(changed, "change")}.` : "Reconnected.");
  } catch {
    // Gone once more; the next time it comes back this is told again.
  }
}

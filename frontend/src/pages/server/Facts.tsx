/** The line of facts below a server's name: up since, calls today, typical time, memory, tokens per question, last
 * used, restarts. */

import { useEffect, useState, type ReactNode } from "react";

import { refreshOn, useOperation } from "../../api/hooks";
import { pageHint } from "../../text/hints";
import { Ago } from "../../ui/Ago";
import { bytes, duration } from "../../ui/amounts";
import { reveal } from "../../ui/hidden";
import type { Glance } from "../servers/model";
import { kilo, reasonOf } from "../servers/text";
import { callWords, FACTS } from "./text";

refreshOn("call", "server_facts");
refreshOn("calls", "server_facts");
refreshOn("server", "server_facts");

const AGAIN = 10_000;

/** What there is to know, in one line. */
export function Facts({ server }: { server: Glance }) {
  const { data, refetch } = useOperation("server_facts", { name: server.name });
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => {
      setNow(Date.now());
      if (!document.hidden) void refetch();
    }, AGAIN);
    return () => clearInterval(timer);
  }, [refetch]);
  const up =
    server.up_since && server.state === "ready" ? duration(Math.max(1000, now - Date.parse(server.up_since))) : null;
  return (
    <>
      <div className="facts num">
        {up && <Fact name={FACTS.up}>{up}</Fact>}
        <Fact name={FACTS.calls}>{data ? callWords(data.calls_today, data.failed_today) : "–"}</Fact>
        <Fact name={FACTS.typical}>{server.typical_ms === null ? "–" : duration(server.typical_ms)}</Fact>
        {data?.memory != null && <Fact name={FACTS.memory}>{bytes(data.memory)}</Fact>}
        <Fact name={FACTS.costs}>{server.tokens === null ? "–" : `${kilo(server.tokens)} ${FACTS.tokens}`}</Fact>
        <Fact name={FACTS.used}>{data?.last_used ? <Ago when={data.last_used} /> : data ? FACTS.never : "–"}</Fact>
        {server.restarts > 0 && <Fact name={FACTS.restarts}>{server.restarts}</Fact>}
      </div>
      {server.state !== "ready" && !server.needs && (
        <p className="secondary space-below-12">
          {reasonOf(server, now)} {reveal(pageHint(server.hint))}
        </p>
      )}
    </>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <span>
      <b>{name}</b>
      {children}
    </span>
  );
}

import { useEffect, useState } from "react";

import { count, duration } from "../../ui/amounts";
import { reasonOf } from "../servers/words";
import type { Glance } from "../servers/model";

/** What there is to know, in one line. */
export function Facts({ server }: { server: Glance }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 10_000);
    return () => clearInterval(timer);
  }, []);
  const calls = server.bars.reduce((sum, bar) => sum + bar.calls, 0);
  const failed = server.bars.reduce((sum, bar) => sum + bar.failed, 0);
  const up = server.up_since && server.state === "ready" ? duration(now - Date.parse(server.up_since)) : null;
  const facts: [string, string][] = [
    ...(up ? ([["Up", up]] as [string, string][]) : []),
    ["Calls, 24 h", failed ? `${calls}, ${failed} failed` : String(calls)],
    ["Typical", server.typical_ms === null ? "–" : duration(server.typical_ms)],
    ["Costs", server.tokens === null ? "–" : `${count(server.tokens)} tokens for all its tools`],
    ...(server.restarts ? ([["Restarts", String(server.restarts)]] as [string, string][]) : []),
    ...(server.version ? ([["Version", server.version]] as [string, string][]) : []),
  ];
  return (
    <>
      <div className="facts num">
        {facts.map(([name, value]) => (
          <span key={name}>
            <b>{name}</b>
            {value}
          </span>
        ))}
      </div>
      {server.state !== "ready" && (
        <p className="q" style={{ marginBottom: 12 }}>
          {reasonOf(server, now)} {server.hint}
        </p>
      )}
    </>
  );
}

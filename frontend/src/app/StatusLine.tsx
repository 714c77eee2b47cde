import { useEffect, useState } from "react";

import { queries, refreshOn, useLive, useOperation } from "../api/hooks";
import type { LiveEvent } from "../api/live";
import { money, plural, tokens } from "../ui/amounts";
import { Glyph } from "../ui/Status";
import { hold, notify, resume, useNotice } from "./notices";
import { Link } from "./router";

refreshOn("running", "host_info");

const MODES: Record<string, string> = {
  always: "ask always",
  on_miss: "ask on a miss",
  on_rule: "ask where a rule says so",
  plan: "plan, reading only",
  session: "on its own for now",
  off: "never ask",
};

/** The sum of it all at the foot of the page; what just happened stands here too. */
export function StatusLine() {
  const { data } = useOperation("host_info", {});
  const notice = useNotice();
  useLive(tellNews);
  useTitle(data?.counts.needs_you ?? 0);
  return (
    <footer className={notice ? "line has" : "line"}>
      {data && (
        <span className="d row" style={{ gap: 16 }}>
          <Counted href="/servers?show=up" shape="ok" words={`${data.counts.up} up`} />
          {data.counts.trouble > 0 && (
            <Counted href="/servers?show=trouble" shape="retry" words={`${data.counts.trouble} in trouble`} />
          )}
          {data.counts.needs_you > 0 && (
            <Counted href="/activity?tab=waiting" shape="need" words={`${data.counts.needs_you} need you`} />
          )}
          <span className="sep" />
          <Link className="num" style={{ color: "inherit" }} href="/activity">
            {plural(data.counts.calls_running, "call")} running
          </Link>
          <span className="sep" />
          <Link style={{ color: "inherit" }} href="/settings#asking">
            Mode: {MODES[data.mode] ?? data.mode}
          </Link>
        </span>
      )}
      {notice && <span className="sep d" />}
      <span className="notice" role="status" onMouseEnter={hold} onMouseLeave={resume} onFocus={hold} onBlur={resume}>
        <span className="el said">{notice?.text}</span>{" "}
        {notice?.command && <span className="el mono m command">{notice.command}</span>}{" "}
        {notice?.undo && (
          <>
            <button type="button" className="plain" style={{ color: "var(--link)" }} onClick={notice.undo}>
              Undo
            </button>{" "}
            {!notice.held && <Countdown until={notice.until} />}
          </>
        )}
      </span>
      {data && (
        <span className="d num" style={{ marginLeft: "auto", display: "flex", gap: 16 }}>
          <Link style={{ color: "inherit" }} href="/activity?tab=requests">
            Today {tokens(data.today.input + data.today.output)}{data.today.cost === null ? "" : ` · ${money(data.today.cost)}`}
          </Link>
          <span className="sep" style={{ alignSelf: "center" }} />
          <Link className="mono" style={{ color: "inherit" }} href="/connect">
            {(data.address ?? "").replace(/^https?:\/\//, "")}
          </Link>
        </span>
      )}
    </footer>
  );
}

function Counted({ href, shape, words }: { href: string; shape: "ok" | "retry" | "need"; words: string }) {
  return (
    <Link className="st" style={{ color: "inherit" }} href={href}>
      <Glyph shape={shape} />
      {words}
    </Link>
  );
}

function Countdown({ until }: { until: number }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, []);
  return (
    <span className="m num" style={{ fontWeight: 400 }} aria-hidden="true">
      · {Math.max(0, Math.ceil((until - now) / 1000))} s
    </span>
  );
}

function useTitle(waiting: number): void {
  useEffect(() => {
    document.title = waiting > 0 ? `(${waiting}) Toolcrib` : "Toolcrib";
  }, [waiting]);
}

function tellNews(event: LiveEvent): void {
  const told = event["event"] as { event?: string } | undefined;
  if (event.kind === "chat" && told?.event === "ended") void queries.invalidateQueries({ queryKey: ["host_info"] });
  if (event.kind === "notice" && typeof event["text"] === "string") notify(event["text"]);
}

/** The line at the bottom: servers up and with problems, running calls, approval mode, the latest notice with Undo,
 * tokens and cost of today. */

import { useEffect, useState } from "react";

import { queries, refreshOn, useLive, useOperation } from "../api/hooks";
import type { LiveEvent } from "../api/live";
import { MODE_NAMES } from "../text/modes";
import { money, plural, tokens } from "../ui/amounts";
import { Glyph } from "../ui/Status";
import { hold, notify, resume, useNotice } from "./notices";
import { Link } from "./router";

refreshOn("running", "host_info");

/** Counts and the latest notice at the bottom of the page. */
export function StatusLine() {
  const { data } = useOperation("host_info", {});
  const notice = useNotice();
  useLive(handleEvent);
  return (
    <footer className={notice ? "status-line has-notice" : "status-line"}>
      {data && (
        <span className="status-part row status-counts">
          <Counted href="/servers?show=up" shape="ok" words={`${data.counts.up} up`} />
          {data.counts.trouble > 0 && (
            <Counted href="/servers?show=trouble" shape="retry" words={`${data.counts.trouble} with problems`} />
          )}
          {data.counts.needs_you > 0 && (
            <Counted
              href="/activity?tab=waiting"
              shape="need"
              words={`${data.counts.needs_you} ${data.counts.needs_you === 1 ? "needs" : "need"} you`}
            />
          )}
          {data.counts.unsaved > 0 && (
            <Counted href="/settings#doctor" shape="retry" words={`${data.counts.unsaved} not saved yet`} />
          )}
          {data.counts.lost > 0 && (
            <Counted href="/settings#doctor" shape="need" words={`${plural(data.counts.lost, "record")} lost`} />
          )}
          <span className="separator" />
          <Link className="num inherit-color" href="/activity">
            {plural(data.counts.calls_running, "call")} running
          </Link>
          <span className="separator" />
          <Link className="inherit-color" href="/settings#asking">
            Mode: {MODE_NAMES[data.mode]}
          </Link>
        </span>
      )}
      {notice && <span className="separator status-part" />}
      <span className="notice" role="status" onMouseEnter={hold} onMouseLeave={resume} onFocus={hold} onBlur={resume}>
        <span className="ellipsis notice-text">{notice?.text}</span>{" "}
        {notice?.command && <span className="ellipsis mono muted notice-command">{notice.command}</span>}{" "}
        {notice?.undo && (
          <>
            <button type="button" className="plain-button link-button" onClick={notice.undo}>
              Undo
            </button>{" "}
            {!notice.held && <Countdown until={notice.until} />}
          </>
        )}
      </span>
      {data && (
        <span className="status-part num status-usage">
          <Link className="inherit-color" href="/activity?tab=requests">
            Today {tokens(data.today.input + data.today.output)}
            {data.today.cost !== null ? ` · ${money(data.today.cost)}` : data.today.input > 0 ? " · cost unknown" : ""}
          </Link>
          <span className="separator centered" />
          <Link className="mono inherit-color" href="/connect">
            {(data.address ?? "").replace(/^https?:\/\//, "")}
          </Link>
        </span>
      )}
    </footer>
  );
}

function Counted({ href, shape, words }: { href: string; shape: "ok" | "retry" | "need"; words: string }) {
  return (
    <Link className="status inherit-color" href={href}>
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
    <span className="muted num countdown" aria-hidden="true">
      · {Math.max(0, Math.ceil((until - now) / 1000))} s
    </span>
  );
}

function handleEvent(event: LiveEvent): void {
  if (event.kind === "notice") notify(event.text);
  if (event.kind === "chat" && event.event.event === "ended") {
    void queries.invalidateQueries({ queryKey: ["host_info"] });
  }
}

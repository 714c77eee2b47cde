/** The log of a server: follows new lines until the user scrolls up, Pause, filter, colors of errors and warnings, how
 * many lines are copied or read aloud. The host keeps the log. */

import { useVirtualizer } from "@tanstack/react-virtual";
import { useDeferredValue, useEffect, useMemo, useRef, useState } from "react";

import { plural } from "../../ui/amounts";
import { Copy } from "../../ui/Copy";
import { reveal } from "../../ui/hidden";
import { download } from "../../ui/download";
import { Icon } from "../../ui/Icon";
import { Status } from "../../ui/Status";
import type { Glance } from "../servers/model";
import { filtered, graveWord, MOST, partsOf, savedLine, type LogRow } from "./logLines";
import { useLog } from "./useLog";
import { junkText, TEXT } from "./text";

const LINE = 19;
const COPIED = 2_000;
const READ = 10;
const ENDED: readonly string[] = ["failed", "backoff", "disabled"];

/** What the server wrote, live: it follows until one scrolls up, and only what is in view is drawn. */
export function Log({ server, tall = false }: { server: Glance; tall?: boolean }) {
  const log = useLog(server.name);
  const [filter, setFilter] = useState("");
  const wanted = useDeferredValue(filter);
  const rows = useMemo(() => filtered(log.rows, wanted), [log.rows, wanted]);
  const [heard, setHeard] = useState("");
  const text = () => rows.slice(-COPIED).map(savedLine).join("\n");
  return (
    <section className="panel" aria-label={TEXT.log}>
      <div className="panel-head">
        <h2>{TEXT.log}</h2>
        <Status shape={log.paused ? "off" : "ok"} word={log.paused ? TEXT.paused : TEXT.live} />
        <span className="grow" />
        <button type="button" className="btn bare small" onClick={() => log.pause(!log.paused)}>
          {log.paused ? TEXT.resume : TEXT.pause}
        </button>
        {tall && (
          <button
            type="button"
            className="btn bare small"
            onClick={() => download(`${server.name}.log`, rows.map(savedLine).join("\n"))}
          >
            Download
          </button>
        )}
        <Copy bare only label="Copy log" text={text} />
      </div>
      <div className="log-filter">
        <label className="field log-filter-field">
          <Icon name="search" small />
          <input
            data-search={tall || undefined}
            placeholder={TEXT.logFilter}
            aria-label="Filter log"
            value={filter}
            onChange={(event) => setFilter(event.target.value)}
          />
          <span className="muted text-small num">
            {rows.length < MOST ? plural(rows.length, "line") : `last ${plural(MOST, "line")}`}
          </span>
        </label>
      </div>
      {log.loaded && rows.length === 0 && (
        <p className="muted text-small log-empty">
          {filter ? TEXT.noMatch : ENDED.includes(server.state) ? TEXT.noLogEnded : TEXT.noLog}
        </p>
      )}
      <Lines rows={rows} tall={tall} waiting={log.waiting} onGoOn={() => log.pause(false)} />
      <div className={server.junk_lines > 0 ? "row log-foot" : "row log-foot bare"}>
        {server.junk_lines > 0 && (
          <span className="muted text-small">
            {junkText(server.junk_lines)}{" "}
            <button type="button" className="plain-button link-button" onClick={() => setFilter("[stdout]")}>
              Show
            </button>
          </span>
        )}
        <button
          type="button"
          className="btn bare small visible-on-focus"
          onClick={() =>
            setHeard(
              rows
                .slice(-READ)
                .map((row) => partsOf(row).text)
                .join(". "),
            )
          }
        >
          {TEXT.readLast}
        </button>
        <span className="visually-hidden" role="status">
          {heard}
        </span>
      </div>
    </section>
  );
}

interface LinesProps {
  rows: LogRow[];
  tall: boolean;
  waiting: number;
  onGoOn: () => void;
}

function Lines({ rows, tall, waiting, onGoOn }: LinesProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [follows, setFollows] = useState(true);
  const seen = useRef(0);
  const top = useRef(0);
  const view = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE,
    overscan: 20,
  });
  useEffect(() => {
    if (!follows) return;
    seen.current = rows.length;
    const box = scroller.current;
    if (box) box.scrollTop = box.scrollHeight;
  }, [rows.length, follows]);
  const fresh = waiting || (follows ? 0 : Math.max(0, rows.length - seen.current));
  function scrolled() {
    const box = scroller.current;
    if (!box) return;
    const up = box.scrollTop < top.current;
    top.current = box.scrollTop;
    // Lines that came meanwhile also put the end out of reach; only a hand goes up.
    if (box.scrollHeight - box.scrollTop - box.clientHeight < LINE * 2) setFollows(true);
    else if (up) setFollows(false);
  }
  return (
    <div className="log-frame">
      <div
        ref={scroller}
        className={tall ? "log tall-log" : "log"}
        role="log"
        aria-live="off"
        aria-label="Server log"
        tabIndex={0}
        onScroll={scrolled}
      >
        <div className="virtual-list" style={{ height: view.getTotalSize() }}>
          {view.getVirtualItems().map((item) => {
            const row = rows[item.index];
            return row ? <Line key={row.number} row={row} start={item.start} /> : null;
          })}
        </div>
      </div>
      {fresh > 0 && (
        <button type="button" className="btn small new-lines" onClick={() => (onGoOn(), setFollows(true))}>
          {plural(fresh, "new line")} ↓
        </button>
      )}
    </div>
  );
}

function fullTime(time: string): string {
  return new Date(time).toLocaleString(undefined, { dateStyle: "full", timeStyle: "medium" });
}

function Line({ row, start }: { row: LogRow; start: number }) {
  const { time, text, level } = partsOf(row);
  const [before, word, after] = level === "event" ? [text, "", ""] : graveWord(text);
  const tone = level === "error" ? "error" : level === "warn" ? "warning" : "";
  return (
    <p
      className={level === "event" ? "virtual-row log-event" : "virtual-row"}
      style={{ height: LINE, transform: `translateY(${start}px)` }}
      title={text.length > 60 ? reveal(text) : undefined}
    >
      <span title={row.time ? fullTime(row.time) : undefined}>{time}</span>
      <span>
        {reveal(before)}
        {word && <span className={tone}>{word}</span>}
        {reveal(after)}
      </span>
    </p>
  );
}

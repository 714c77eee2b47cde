/** The tab Traffic of a server: the protocol's messages in both directions, recorded while Record is on. Rows open to
 * JSON; filter, Clear, Download. Everything shown is untrusted text of the server. */

import { useVirtualizer } from "@tanstack/react-virtual";
import { useDeferredValue, useEffect, useMemo, useRef, useState } from "react";

import type { RecordedMessage } from "../../api/types";
import { bytes, duration, plural } from "../../ui/amounts";
import { Copy } from "../../ui/Copy";
import { download } from "../../ui/download";
import { ErrorBox } from "../../ui/ErrorBox";
import { reveal } from "../../ui/hidden";
import { Icon } from "../../ui/Icon";
import { Loading } from "../../ui/Loading";
import { LongText } from "../../ui/LongText";
import { Status } from "../../ui/Status";
import { Switch } from "../../ui/Switch";
import { TRAFFIC } from "./text";
import { exactTime, filtered, indented, jsonLines } from "./trafficRows";
import { useTraffic } from "./useTraffic";

const ROW = 34;

export function Traffic({ name }: { name: string }) {
  const traffic = useTraffic(name);
  const [filter, setFilter] = useState("");
  const wanted = useDeferredValue(filter);
  const rows = useMemo(() => filtered(traffic.rows, wanted), [traffic.rows, wanted]);
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const { recording, skipped } = traffic;
  const none = traffic.rows.length === 0;
  const toggle = (number: number) => {
    const next = new Set(opened);
    if (!next.delete(number)) next.add(number);
    setOpened(next);
  };
  return (
    <section className="panel" aria-label={TRAFFIC.title}>
      <div className="panel-head traffic-head">
        <h2>{TRAFFIC.title}</h2>
        <Status shape={recording ? "ok" : "off"} word={recording ? TRAFFIC.recording : TRAFFIC.off} />
        <span className="grow" />
        <span className="secondary" aria-hidden>
          {TRAFFIC.record}
        </span>
        <Switch label={TRAFFIC.record} on={recording} disabled={!traffic.loaded} onChange={traffic.record} />
        <button type="button" className="btn bare small" disabled={none} onClick={traffic.clear}>
          {TRAFFIC.clear}
        </button>
        <button
          type="button"
          className="btn bare small"
          disabled={rows.length === 0}
          onClick={() => download(`${name}.jsonl`, jsonLines(rows), "application/jsonl")}
        >
          {TRAFFIC.download}
        </button>
      </div>
      <div className="log-filter">
        <label className="field log-filter-field">
          <Icon name="search" small />
          <input
            data-search
            placeholder={TRAFFIC.filter}
            aria-label={TRAFFIC.filterLabel}
            value={filter}
            onChange={(event) => setFilter(event.target.value)}
          />
          <span className="muted text-small num">{plural(rows.length, "message")}</span>
        </label>
      </div>
      {traffic.error !== null && <ErrorBox error={traffic.error} again={traffic.again} />}
      {!traffic.loaded && traffic.error === null && <Loading rows={4} height={ROW} />}
      {traffic.loaded && rows.length === 0 && (
        <p className="muted log-empty">
          {!none ? TRAFFIC.noMatch : recording ? TRAFFIC.noneYet : TRAFFIC.notRecording}
        </p>
      )}
      {rows.length > 0 && <Rows rows={rows} opened={opened} onToggle={toggle} />}
      {skipped > 0 && <p className="row muted text-small log-foot">{TRAFFIC.skipped(skipped)}</p>}
    </section>
  );
}

interface RowsProps {
  rows: RecordedMessage[];
  opened: ReadonlySet<number>;
  onToggle: (number: number) => void;
}

function Rows({ rows, opened, onToggle }: RowsProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const view = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    getItemKey: (index) => rows[index]?.number ?? index,
    overscan: 10,
  });
  const last = rows.at(-1)?.number;
  useEffect(() => {
    if (follows.current && last !== undefined) view.scrollToIndex(rows.length - 1);
    // Only new messages move the list; opening one does not.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [last]);
  function scrolled() {
    const box = scroller.current;
    if (box) follows.current = box.scrollHeight - box.scrollTop - box.clientHeight < ROW * 2;
  }
  return (
    <div ref={scroller} className="traffic tall-log" onScroll={scrolled}>
      <ul className="virtual-list" aria-label={TRAFFIC.list} style={{ height: view.getTotalSize() }}>
        {view.getVirtualItems().map((item) => {
          const row = rows[item.index];
          if (!row) return null;
          return (
            <li
              key={item.key}
              ref={view.measureElement}
              data-index={item.index}
              className="virtual-row"
              aria-setsize={rows.length}
              aria-posinset={item.index + 1}
              style={{ transform: `translateY(${item.start}px)` }}
            >
              <Row
                row={row}
                open={opened.has(row.number)}
                onToggle={() => {
                  follows.current = false; // What is being read stays where it is.
                  onToggle(row.number);
                }}
              />
            </li>
          );
        })}
      </ul>
    </div>
  );
}

function Row({ row, open, onToggle }: { row: RecordedMessage; open: boolean; onToggle: () => void }) {
  const text = useMemo(() => (open ? indented(row.text) : ""), [open, row.text]);
  const isAnswer = row.kind === "result" || row.kind === "error";
  return (
    <>
      <button type="button" className="plain-button traffic-row" aria-expanded={open} onClick={onToggle}>
        <Icon name={open ? "down" : "right"} small />
        <span className="muted num">{exactTime(row.time)}</span>
        <span className="traffic-direction" title={TRAFFIC.direction(row.to_server)}>
          <span aria-hidden>{row.to_server ? "→" : "←"}</span>
          <span className="visually-hidden">{TRAFFIC.direction(row.to_server)}</span>
        </span>
        <span className="traffic-method">
          <code>{reveal(row.method)}</code>
          {isAnswer && <span className={row.kind === "error" ? "traffic-error" : "muted"}> {row.kind}</span>}
        </span>
        <span className="muted num traffic-id">{row.id === null ? "" : `id ${reveal(row.id)}`}</span>
        <span className="num align-right">{row.milliseconds === null ? "" : duration(row.milliseconds)}</span>
        <span className="muted num align-right">{bytes(row.size)}</span>
      </button>
      {open && (
        <div className="traffic-message">
          <p className="row muted text-small">
            <span className="grow num">
              {[exactTime(row.time), row.id === null ? "" : `id ${reveal(row.id)}`, row.cut ? TRAFFIC.cut : ""]
                .filter(Boolean)
                .join(" · ")}
            </span>
            <Copy bare label={TRAFFIC.copy} text={text} />
          </p>
          <LongText text={text} label={`${row.method || row.kind} ${row.number}`} />
        </div>
      )}
    </>
  );
}

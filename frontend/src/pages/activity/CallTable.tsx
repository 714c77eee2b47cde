/** The table of calls: columns, order (running ones first, then newest), headings of days such as "Yesterday", keys of
 * its rows. */

import { useEffect, useRef, useState, type KeyboardEvent } from "react";

import type { Call, PolicyRule, RunningCall } from "../../api/types";
import { tilde } from "../../text/home";
import { clockSeconds, duration } from "../../ui/amounts";
import { reveal } from "../../ui/hidden";
import { callState } from "../../ui/states";
import { Status } from "../../ui/Status";
import { useWindow } from "../../ui/window";
import { allowedBy, allowedSoFar, gist, whoText } from "./callText";
import { TEXT } from "./text";

type Item = { kind: "day"; text: string } | { kind: "running"; call: RunningCall } | { kind: "call"; call: Call };

interface Props {
  running: readonly RunningCall[];
  calls: readonly Call[];
  total: number;
  selected: string | null;
  rules: readonly PolicyRule[];
  onOpen: (id: string) => void;
  onAsked: (question: string) => void;
}

/** The calls, newest first: those that run, then each day's. */
export function CallTable({ running, calls, total, selected, rules, onOpen, onAsked }: Props) {
  const body = useRef<HTMLTableElement>(null);
  const items = arranged(running, calls);
  const view = useWindow({
    count: items.length,
    height: 36,
    keyOf: (index) => keyOf(items[index] as Item),
    anchor: body,
  });
  function keys(event: KeyboardEvent) {
    const step =
      event.key === "ArrowDown" || event.key === "j" ? 1 : event.key === "ArrowUp" || event.key === "k" ? -1 : 0;
    if (!step || event.metaKey || event.ctrlKey || event.altKey) return;
    const rows = [...(body.current?.querySelectorAll<HTMLElement>("[data-row]") ?? [])];
    const here = rows.indexOf(event.target as HTMLElement);
    if (here < 0) return;
    rows[here + step]?.focus();
    event.preventDefault();
    event.stopPropagation();
  }
  const { columns } = TEXT;
  return (
    <table
      className="calls-table"
      ref={body}
      onKeyDown={keys}
      aria-label={TEXT.tabs.calls}
      aria-rowcount={total + running.length + 1}
    >
      <colgroup>
        <col className="col-time" />
        <col className="col-outcome" />
        <col />
        <col className="col-caller" />
        <col className="col-allowed" />
        <col className="col-duration" />
      </colgroup>
      <thead>
        <tr>
          <th scope="col">{columns.time}</th>
          <th scope="col">{columns.outcome}</th>
          <th scope="col">{columns.call}</th>
          <th scope="col">{columns.who}</th>
          <th scope="col">{columns.allowed}</th>
          <th scope="col" className="align-right">
            {columns.took}
          </th>
        </tr>
      </thead>
      <tbody>
        {view.before > 0 && (
          <tr className="spacer" aria-hidden="true">
            <td colSpan={6} style={{ height: view.before }} />
          </tr>
        )}
        {view.rows.map(({ index, key }) => {
          const item = items[index] as Item;
          const row = { index, measure: view.measure };
          if (item.kind === "day")
            return (
              <tr key={key} className="day" data-index={index} ref={view.measure}>
                <td colSpan={6}>{item.text}</td>
              </tr>
            );
          if (item.kind === "running")
            return <RunningRow key={key} call={item.call} row={row} rules={rules} onAsked={onAsked} />;
          return (
            <CallRow
              key={key}
              call={item.call}
              row={row}
              on={item.call.call_id === selected}
              rules={rules}
              onOpen={onOpen}
            />
          );
        })}
        {view.after > 0 && (
          <tr className="spacer" aria-hidden="true">
            <td colSpan={6} style={{ height: view.after }} />
          </tr>
        )}
      </tbody>
    </table>
  );
}

function arranged(running: readonly RunningCall[], calls: readonly Call[]): Item[] {
  const items: Item[] = running.map((call) => ({ kind: "running", call }));
  const today = new Date().toDateString();
  let last = today;
  for (const call of calls) {
    const day = new Date(call.time).toDateString();
    if (day !== last) items.push({ kind: "day", text: dayText(new Date(call.time)) });
    last = day;
    items.push({ kind: "call", call });
  }
  return items;
}

function dayText(date: Date): string {
  const written = date.toLocaleDateString("en-GB", { weekday: "long", day: "numeric", month: "long" }).replace(",", "");
  const yesterday = new Date(Date.now() - 86_400_000).toDateString() === date.toDateString();
  return yesterday ? `Yesterday, ${written}` : written;
}

function keyOf(item: Item): string {
  return item.kind === "day" ? `day ${item.text}` : `${item.kind} ${item.call.call_id}`;
}

type Rules = readonly PolicyRule[];

interface Drawn {
  index: number;
  measure: (element: Element | null) => void;
}

function CallRow({
  call,
  row,
  on,
  rules,
  onOpen,
}: {
  call: Call;
  row: Drawn;
  on: boolean;
  rules: Rules;
  onOpen: (id: string) => void;
}) {
  const state = callState(call.outcome);
  const ran = !["denied", "invalid"].includes(call.outcome) && call.ms > 0;
  return (
    <tr
      className={on ? "selected" : ""}
      data-index={row.index}
      ref={row.measure}
      data-call={call.call_id}
      onClick={() => onOpen(call.call_id)}
    >
      <td className="time">{clockSeconds(call.time)}</td>
      <td>
        <Status shape={state.shape} word={state.word} />
      </td>
      <td>
        <button
          type="button"
          className="plain-button tool-name"
          data-row
          aria-current={on ? "true" : undefined}
          onClick={() => onOpen(call.call_id)}
        >
          <Name server={call.server} name={call.name} text={call.outcome === "ok" ? "" : tilde(gist(call.arguments))} />
        </button>
      </td>
      <td>{whoText(call.who)}</td>
      <td className="secondary">{allowedBy(call, rules)}</td>
      <td className="align-right num">{ran ? duration(call.ms) : "–"}</td>
    </tr>
  );
}

function RunningRow({
  call,
  row,
  rules,
  onAsked,
}: {
  call: RunningCall;
  row: Drawn;
  rules: Rules;
  onAsked: (question: string) => void;
}) {
  const state = callState(call.state);
  const asks = call.question;
  return (
    <tr data-index={row.index} ref={row.measure} data-running={call.call_id} onClick={() => asks && onAsked(asks)}>
      <td className="time">{clockSeconds(call.time)}</td>
      <td>
        <Status shape={state.shape} word={state.word} />
      </td>
      <td>
        {asks ? (
          <button type="button" className="plain-button tool-name" data-row onClick={() => onAsked(asks)}>
            <Name server={call.server} name={call.name} text={tilde(gist(call.arguments))} />
          </button>
        ) : (
          <Name server={call.server} name={call.name} text={tilde(gist(call.arguments))} />
        )}
      </td>
      <td>{whoText(call.who)}</td>
      <td className="secondary">{allowedSoFar(call, rules)}</td>
      <td className="align-right num">{call.began === null ? "–" : <Ticking since={call.began} />}</td>
    </tr>
  );
}

function Name({ server, name, text }: { server: string | null; name: string; text: string }) {
  return (
    <code className="call-name">
      {server && <i>{reveal(server)} · </i>}
      <span>{reveal(name)}</span>
      {text && <span className="call-gist"> {reveal(text)}</span>}
    </code>
  );
}

function Ticking({ since }: { since: string }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return <>{duration(Math.max(1000, now - new Date(since).getTime()))}</>;
}

/** One row of the list of servers: state, name, source and reason, tools, tokens, calls, typical time, its button and
 * menu. */

import { memo } from "react";

import { Link } from "../../app/router";
import { duration } from "../../ui/amounts";
import { Icon } from "../../ui/Icon";
import { Menu, type MenuEntry } from "../../ui/Menu";
import { Status } from "../../ui/Status";
import { serverState } from "../../ui/states";
import type { Setup } from "../add/types";
import { CallBars } from "./CallBars";
import { wayOf, type Row, type Way } from "./model";
import { kilo, reasonOf, setupReason, sourceText, sourceLabel } from "./text";

interface Props {
  row: Row;
  now: number;
  most: number;
  current: boolean;
  index: number;
  onAct: (row: Row, way: Way) => void;
  menuOf: (row: Row) => MenuEntry[];
  onFocus: (name: string) => void;
}

/** One server: state, name and reason, numbers, the one thing to do, and the rest behind dots. */
export const ServerRow = memo(function ServerRow({ row, now, most, current, index, onAct, menuOf, onFocus }: Props) {
  const { server, setup } = row;
  const way = wayOf(row);
  const seconds = server?.retry_at ? Math.max(0, Math.ceil((Date.parse(server.retry_at) - now) / 1000)) : null;
  const shown = setup
    ? serverState(setup.installing ? "installing" : "failed")
    : serverState(server?.state ?? "starting", server?.held.length ?? 0, seconds, server?.needs);
  const source = server ? sourceLabel(server) : setup?.source ? sourceText(setup.source) : "";
  const reason = setup ? setupReason(setup) : server ? reasonOf(server, now) : "";
  return (
    <div
      className="server-row"
      role="row"
      aria-rowindex={index}
      data-server={row.name}
      tabIndex={current ? 0 : -1}
      onFocus={() => onFocus(row.name)}
    >
      <span role="cell" className="state-cell">
        <Status shape={shown.shape} word={shown.word} />
      </span>
      <div className="name-cell" role="rowheader">
        <div className="ellipsis">
          <Link href={`/servers/${encodeURIComponent(row.name)}`} className="server-name inherit-color">
            {row.name}
          </Link>
          {source && <span className="server-source">{source}</span>}
        </div>
        <div className="reason ellipsis" title={reason}>
          {reason}
        </div>
      </div>
      <span className="number" role="cell">
        {server && server.tools > 0 ? server.tools : "–"}
      </span>
      <span className="number hide-medium" role="cell">
        {server?.tokens ? kilo(server.tokens) : "–"}
      </span>
      <span className="hide-medium number" role="cell">
        {setup?.installing ? <Progress setup={setup} /> : server && <CallBars bars={server.bars} most={most} />}
      </span>
      <span className="number hide-medium" role="cell">
        {server?.typical_ms === null || !server ? "–" : duration(server.typical_ms)}
      </span>
      <span className="row-actions" role="cell">
        {way && (
          <button key={way.way} type="button" className="btn small" onClick={() => onAct(row, way.way)}>
            {way.words}
            <span className="visually-hidden"> {row.name}</span>
          </button>
        )}
        <Menu
          trigger={
            <button type="button" className="btn bare small icon-only" aria-label={`More for ${row.name}`} data-more>
              <Icon name="dots" small />
            </button>
          }
          entries={menuOf(row)}
        />
      </span>
    </div>
  );
});

function Progress({ setup }: { setup: Setup }) {
  if (setup.total === 0) return null;
  const share = Math.round((setup.done / setup.total) * 100);
  return (
    <span className="bar" role="progressbar" aria-valuenow={share} aria-label={`Installing ${setup.name}`}>
      <i style={{ width: `${share}%` }} />
    </span>
  );
}

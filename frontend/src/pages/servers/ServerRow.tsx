import { memo } from "react";

import { Link } from "../../app/router";
import { duration } from "../../ui/amounts";
import { Icon } from "../../ui/Icon";
import { Menu, type MenuEntry } from "../../ui/Menu";
import { Status } from "../../ui/Status";
import { serverState } from "../../ui/states";
import type { Setup } from "../add/setups";
import { Bars } from "./Bars";
import { wayOf, type Row, type Way } from "./model";
import { kilo, reasonOf, setupReason, sourceText, sourceWords } from "./words";

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
  const shown = setup ? serverState(setup.installing ? "installing" : "failed") : serverState(server?.state ?? "starting", server?.held.length ?? 0, seconds);
  const source = server ? sourceWords(server) : setup?.source ? sourceText(setup.source) : "";
  const reason = setup ? setupReason(setup) : server ? reasonOf(server, now) : "";
  return (
    <div
      className="r"
      role="row"
      aria-rowindex={index}
      data-server={row.name}
      tabIndex={current ? 0 : -1}
      onFocus={() => onFocus(row.name)}
    >
      <span role="cell" className="stc"><Status shape={shown.shape} word={shown.word} /></span>
      <div className="who" role="rowheader">
        <div className="el">
          <Link href={`/servers/${encodeURIComponent(row.name)}`} className="nm" style={{ color: "inherit" }}>{row.name}</Link>
          {source && <span className="src">{source}</span>}
        </div>
        <div className="why el" title={reason}>{reason}</div>
      </div>
      <span className="n" role="cell">{server && server.tools > 0 ? server.tools : "–"}</span>
      <span className="n h2" role="cell">{server?.tokens ? kilo(server.tokens) : "–"}</span>
      <span className="h2 n" role="cell">
        {setup?.installing ? <Progress setup={setup} /> : server && <Bars bars={server.bars} most={most} />}
      </span>
      <span className="n h2" role="cell">{server?.typical_ms === null || !server ? "–" : duration(server.typical_ms)}</span>
      <span className="ac" role="cell">
        {way && <button key={way.way} type="button" className="btn sm" onClick={() => onAct(row, way.way)}>{way.words}<span className="sr"> {row.name}</span></button>}
        <Menu
          trigger={<button type="button" className="btn bare sm ic" aria-label={`More for ${row.name}`} data-more><Icon name="dots" small /></button>}
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

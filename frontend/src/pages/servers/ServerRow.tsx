import { memo } from "react";

import { Link } from "../../app/router";
import { count, duration } from "../../ui/amounts";
import { Icon } from "../../ui/Icon";
import { Menu, type MenuEntry } from "../../ui/Menu";
import { Status } from "../../ui/Status";
import { serverState } from "../../ui/states";
import { Bars } from "./Bars";
import { wayOf, type Row, type Way } from "./model";
import { reasonOf, sourceWords } from "./words";

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
  const { server, trial } = row;
  const way = wayOf(row);
  const seconds = server?.retry_at ? Math.max(0, Math.ceil((Date.parse(server.retry_at) - now) / 1000)) : null;
  const shown = trial ? serverState("installing") : serverState(server?.state ?? "starting", server?.held.length ?? 0, seconds);
  const reason = trial ? installWords(row) : server ? reasonOf(server, now) : "";
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
          {server && <span className="src">{sourceWords(server)}</span>}
        </div>
        <div className="why el" title={reason}>{reason}</div>
      </div>
      <span className="n" role="cell">{server && server.tools > 0 ? server.tools : "–"}</span>
      <span className="n h2" role="cell">{server?.tokens ? kilo(server.tokens) : "–"}</span>
      <span className="h2 n" role="cell">
        {trial ? <Progress row={row} /> : server && <Bars bars={server.bars} most={most} />}
      </span>
      <span className="n h2" role="cell">{server?.typical_ms === null || !server ? "–" : duration(server.typical_ms)}</span>
      <span className="ac" role="cell">
        {way && <button type="button" className="btn sm" onClick={() => onAct(row, way.way)}>{way.words}<span className="sr"> {row.name}</span></button>}
        <Menu
          trigger={<button type="button" className="btn bare sm ic" aria-label={`More for ${row.name}`} data-more><Icon name="dots" small /></button>}
          entries={menuOf(row)}
        />
      </span>
    </div>
  );
});

/** Tokens in thousands, as in 0.5k: a list of them reads best in one unit. */
function kilo(tokens: number): string {
  return tokens < 1000 ? `${Math.max(0.1, tokens / 1000).toFixed(1)}k` : count(tokens);
}

function installWords(row: Row): string {
  const progress = row.trial?.progress;
  if (!progress) return "Getting ready";
  return progress.total > 0 ? `${progress.done} of ${progress.total} packages` : progress.detail;
}

function Progress({ row }: { row: Row }) {
  const progress = row.trial?.progress;
  if (!progress || progress.total === 0) return null;
  const share = Math.round((progress.done / progress.total) * 100);
  return (
    <span className="bar" style={{ display: "block", marginTop: 7 }} role="progressbar" aria-valuenow={share} aria-label={`Installing ${row.name}`}>
      <i style={{ width: `${share}%` }} />
    </span>
  );
}

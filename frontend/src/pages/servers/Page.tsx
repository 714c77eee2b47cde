/** The Servers page: summary, filter by name, tool or package, tabs "Needs you", Up, Off, the switch for all servers,
 * keys a, t, x, l, and how often it is fetched again. */

import { useCallback, useDeferredValue, useEffect, useMemo, useState } from "react";

import { refreshOn, useOperation, usePages } from "../../api/hooks";
import { useKeys } from "../../app/keys";
import { Link, navigate, setSearch, useSearch } from "../../app/router";
import { Icon } from "../../ui/Icon";
import { Loading } from "../../ui/Loading";
import { plural } from "../../ui/amounts";
import { Segments } from "../../ui/Segments";
import { Switch } from "../../ui/Switch";
import { ErrorBox } from "../../ui/ErrorBox";
import { useSetups } from "../add/setups";
import * as actions from "./actions";
import { Dialogs, type Open } from "./Dialogs";
import { AllOff, BadConfig, Empty } from "./ListNotices";
import { List } from "./List";
import { useRowKeys } from "./rowKeys";
import { menuOf, performWay } from "./rowActions";
import { countGroups, isShown, rowsOf, type Overview, type Row, type Show, type Way } from "./model";
import { useStableOrder } from "./stableOrder";
import { PAGE, summaryText } from "./text";
import "./page.css";

for (const kind of ["server", "server_removed", "tools", "config", "waiting"] as const) refreshOn(kind, "overview");
refreshOn("config", "launch", "entry");
refreshOn("tools", "launch");

const AGAIN = 30_000;

/** What is up, what is not, why, and what to do. */
export default function Page() {
  const { data, error, refetch } = useOperation("overview", {});
  const search = useSearch();
  useEffect(() => {
    const timer = setInterval(() => !document.hidden && void refetch(), AGAIN);
    return () => clearInterval(timer);
  }, [refetch]);
  const [open, setOpen] = useOpen(search);
  const setups = useSetups();
  const none = data !== undefined && rowsOf(data, setups).length === 0;
  return (
    <div className="page">
      {!data && !error && (
        <>
          <Title />
          <Loading rows={8} />
        </>
      )}
      {error && !data && (
        <>
          <Title />
          <ErrorBox error={error} again={() => void refetch()} />
        </>
      )}
      {data && none && (
        <>
          <Title />
          <Empty onOpen={setOpen} />
        </>
      )}
      {data && !none && <Servers data={data} search={search} onOpen={setOpen} />}
      <Dialogs open={open} onOpen={setOpen} />
    </div>
  );
}

function Title() {
  return (
    <div className="page-head">
      <div className="grow">
        <h1>{PAGE.title}</h1>
      </div>
    </div>
  );
}

function Servers({ data, search, onOpen }: { data: Overview; search: URLSearchParams; onOpen: (open: Open) => void }) {
  const setups = useSetups();
  const [words, setWords] = useState("");
  const show = (search.get("show") ?? "all") as Show;
  const rows = useMemo(() => rowsOf(data, setups), [data, setups]);
  const counts = countGroups(rows);
  const wanted = useDeferredValue(words);
  const tools = useToolNames(wanted !== "");
  const steady = useStableOrder(rows);
  const shown = steady.rows.filter((row) => isShown(row, show, wanted, tools));
  const now = useClock(rows);
  const act = useCallback((row: Row, way: Way) => performWay(row, way, onOpen), [onOpen]);
  const menu = useCallback((row: Row) => menuOf(row, onOpen), [onOpen]);
  usePageKeys(shown, onOpen);
  return (
    <>
      <div className="page-head">
        <div className="grow">
          <h1>{PAGE.title}</h1>
          <p>{summaryText(counts, rows.length)}</p>
        </div>
        <button type="button" className="btn" onClick={() => onOpen({ what: "import" })}>
          {PAGE.import}
        </button>
        <button type="button" className="btn primary" onClick={() => onOpen({ what: "add" })}>
          <Icon name="plus" small />
          {PAGE.add}
          <kbd>A</kbd>
        </button>
      </div>
      {data.config_error && <BadConfig trouble={data.config_error} />}
      {!data.switched_on && <AllOff at={data.switched_at} ended={data.ended} />}
      <div className="toolbar">
        <label className="field grow filter-field">
          <Icon name="search" small />
          <input
            data-search
            placeholder={PAGE.filter}
            aria-label={PAGE.filterLabel}
            value={words}
            onChange={(event) => setWords(event.target.value)}
          />
          <kbd className="hide-narrow">/</kbd>
        </label>
        <Segments
          label="Show"
          value={show}
          options={segments(counts, rows.length, show)}
          onChange={(next) => setSearch({ show: next === "all" ? null : next })}
        />
        <span className="grow hide-narrow" />
        <span className="muted text-small row master-switch master-label">
          {PAGE.master}{" "}
          <Switch label="Master switch" on={data.switched_on} onChange={(on) => void actions.switchAll(on)} />
        </span>
      </div>
      <List steady={steady} rows={shown} now={now} onAct={act} menuOf={menu} />
      {shown.length === 0 && <p className="empty">{words ? `No servers match “${words}”.` : "No servers here."}</p>}
      <BuiltIn data={data} />
      <p className="muted only-narrow row space-above-14">
        <span className="grow">{PAGE.master}</span>
        <Switch label="Master switch" on={data.switched_on} onChange={(on) => void actions.switchAll(on)} />
      </p>
    </>
  );
}

function segments(counts: ReturnType<typeof countGroups>, total: number, show: Show) {
  const name = (words: string, amount: number) => (
    <>
      {words} <span className="muted num">{amount}</span>
    </>
  );
  const usual: { value: Show; name: React.ReactNode }[] = [
    { value: "all", name: name("All", total) },
    { value: "needs", name: name("Needs you", counts.needs) },
    { value: "up", name: name("Up", counts.up) },
    { value: "off", name: name("Off", counts.off) },
  ];
  return show === "trouble" ? [...usual, { value: "trouble" as const, name: name("Problems", counts.trouble) }] : usual;
}

function BuiltIn({ data }: { data: Overview }) {
  if (data.built_in.length === 0) return null;
  const words = data.built_in.map(
    (one) => `${one.name || "Toolcrib’s own"} (${plural(one.tools, "tool")}${one.note ? `, ${one.note}` : ""})`,
  );
  return (
    <p className="muted text-small space-above-14">
      Built in, without their own process: {words.join(", ")}. <Link href="/settings">Settings</Link>
    </p>
  );
}

/** The names of each server's tools, fetched when the user filters. */
function useToolNames(enabled: boolean): ReadonlyMap<string, readonly string[]> {
  const { data } = usePages("tools", {}, { enabled });
  return useMemo(() => {
    const names = new Map<string, string[]>();
    for (const tool of data ?? []) {
      const server = tool.server ?? "";
      names.set(server, [...(names.get(server) ?? []), tool.original_name]);
    }
    return names;
  }, [data]);
}

/** The time, every second where a row counts seconds, else now and then. */
function useClock(rows: readonly Row[]): number {
  const counting = rows.some((row) => row.server?.state === "backoff" || row.server?.state === "starting");
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), counting ? 1000 : 30_000);
    return () => clearInterval(timer);
  }, [counting, rows]);
  return now;
}

function usePageKeys(rows: readonly Row[], onOpen: (open: Open) => void): void {
  const keys = useMemo(() => ({ a: () => onOpen({ what: "add" }) }), [onOpen]);
  useKeys(keys);
  const row = useCallback((name: string) => rows.find((one) => one.name === name), [rows]);
  useRowKeys({
    t: (name) => {
      if (row(name)?.server) onOpen({ what: "test", name });
    },
    x: (name) => {
      const server = row(name)?.server;
      if (server) void actions.turn(name, !server.enabled);
    },
    l: (name) => navigate(`/servers/${encodeURIComponent(name)}?tab=log`),
  });
}

/** Which dialog is open; the address may ask for one. */
function useOpen(search: URLSearchParams): [Open | null, (open: Open | null) => void] {
  const [open, setOpen] = useState<Open | null>(null);
  const add = search.get("add");
  const trust = search.get("trust");
  const bring = search.get("import");
  const setup = search.get("setup");
  useEffect(() => {
    if (add !== null) setOpen({ what: "add" });
    else if (trust !== null) setOpen({ what: "review", name: trust });
    else if (bring !== null) setOpen({ what: "import" });
    else if (setup !== null) setOpen({ what: "test", name: setup, shown: true });
    if ([add, trust, bring, setup].some((asked) => asked !== null))
      setSearch({ add: null, trust: null, import: null, setup: null });
  }, [add, trust, bring, setup]);
  return [open, setOpen];
}

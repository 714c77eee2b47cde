/** The Tools page: search by question or by name, pause after typing before the host is asked, legend, "Did you mean",
 * panel of one tool. The host searches and ranks. */

import { useCallback, useEffect, useState } from "react";

import { run } from "../../api/client";
import { refreshOn, useOperation, usePages } from "../../api/hooks";
import { useRightPanel } from "../../app/panels";
import { Link, navigate, setSearch, useRest, useSearch } from "../../app/router";
import { useTopTitle } from "../../app/title";
import { plural } from "../../ui/amounts";
import { Loading } from "../../ui/Loading";
import { useTwoColumns } from "../../ui/media";
import { ErrorBox } from "../../ui/ErrorBox";
import { ban, pin } from "./actions";
import { List } from "./List";
import "./page.css";
import { RetrievalSettings } from "./RetrievalSettings";
import { Search, type By } from "./Search";
import { ToolPanel } from "./ToolPanel";
import { heard, summary, TEXT } from "./text";

for (const kind of ["tools", "server", "server_removed", "config"] as const)
  refreshOn(kind, "rank", "find_tools", "tool_show");

let warmed = false;

/** Makes the host index all tools while the user types, so that the first ranking does not wait for it. */
function useWarmRanking(): void {
  useEffect(() => {
    if (warmed) return;
    warmed = true;
    run("rank", { query: "what can this do", limit: 1 }).catch(() => (warmed = false));
  }, []);
}

let remembered = ""; // The question, kept when a narrow window returns from a tool.

export default function ToolsPage() {
  useWarmRanking();
  const wide = useTwoColumns();
  const search = useSearch();
  const [first] = useRest();
  const asked = first ?? search.get("tool");
  useEffect(() => {
    if (!wide && !first && search.get("tool"))
      navigate(`/tools/${encodeURIComponent(search.get("tool") ?? "")}${without("tool")}`, { replace: true });
  }, [wide, first, search]);
  useTopTitle(!wide && first ? first : null);
  if (!wide && first) {
    return (
      <div className="tools-layout panel-only">
        <h1 className="visually-hidden">{first}</h1>
        <aside className="side-pane" aria-label={`${TEXT.tryIt}: ${first}`}>
          <ToolPanel key={first} name={first} />
        </aside>
      </div>
    );
  }
  return <Both wide={wide} asked={asked} />;
}

function without(name: string): string {
  const search = new URLSearchParams(location.search);
  search.delete(name);
  return search.size ? `?${search}` : "";
}

function Both({ wide, asked }: { wide: boolean; asked: string | null }) {
  const search = useSearch();
  const by: By = search.get("by") === "name" ? "name" : "question";
  const [text, setText] = useState(search.get("q") ?? remembered);
  const [settings, setSettings] = useState(false);
  const beside = useRightPanel("tools") && wide;
  const rested = useRested(text.trim());
  useEffect(() => {
    remembered = text;
  }, [text]);
  useEffect(() => setSearch({ q: rested || null }), [rested]);
  const asks = by === "question" && rested !== "";
  const ranked = useOperation("rank", { query: rested }, { enabled: asks, keepPrevious: true });
  const listed = usePages("find_tools", { words: by === "name" ? rested : "" }, { enabled: !asks, keepPrevious: true });
  const { data, error, refetch } = asks ? ranked : listed;
  const ranking = asks ? (ranked.data ?? null) : null;
  useEffect(() => {
    if (!ranking?.note) return; // By words alone for now: look again when there may be vectors.
    const timer = setTimeout(() => void ranked.refetch(), 4000);
    return () => clearTimeout(timer);
  }, [ranking, ranked]);
  const tools = data?.tools ?? [];
  const selected = asked ?? (wide ? (tools[0]?.name ?? null) : null);
  const open = useCallback(
    (name: string) =>
      wide
        ? navigate(`/tools${changed("tool", name)}`, { replace: true })
        : navigate(`/tools/${encodeURIComponent(name)}${location.search}`),
    [wide],
  );
  return (
    <div className={beside ? "tools-layout" : "tools-layout without-panel"}>
      <div className="list-pane">
        <div className="row tools-head">
          <div className="grow">
            <h1>{TEXT.title}</h1>
            <p className="secondary page-summary space-above-4">
              <span className="num">{summary(data)}</span> {TEXT.hint}
            </p>
          </div>
        </div>
        <Search
          text={text}
          by={by}
          ranking={ranking}
          onText={setText}
          onBy={(next) => setSearch({ by: next === "name" ? "name" : null })}
          onSettings={() => setSettings(true)}
        />
        <Legend ranking={ranking} by={by} words={rested} />
        {error && <ErrorBox error={error} again={() => void refetch()} />}
        {!data && !error && <Loading rows={8} height={80} />}
        {data && !asks && tools.length === 0 && (
          <Nothing words={rested} near={listed.data?.near ?? null} known={data.known} onWord={setText} />
        )}
        {data && (
          <List
            key={asks ? rested : "names"}
            tools={tools}
            ranking={ranking}
            selected={selected}
            onOpen={open}
            onPin={(tool) => void pin(tool)}
            onBan={(tool) => void ban(tool)}
          />
        )}
        {ranking?.note && <p className="muted text-small space-above-12">{ranking.note}</p>}
        <Heard text={ranking ? heard(ranking) : data && rested ? plural(tools.length, "tool") : ""} />
      </div>
      {beside && (
        <aside className="side-pane" aria-label={selected ? `${TEXT.tryIt}: ${selected}` : TEXT.tryIt}>
          {selected ? (
            <ToolPanel key={selected} name={selected} />
          ) : (
            <p className="secondary tool-hint">{data ? TEXT.choose : ""}</p>
          )}
        </aside>
      )}
      {settings && <RetrievalSettings onClose={() => setSettings(false)} />}
    </div>
  );
}

function changed(name: string, value: string): string {
  const search = new URLSearchParams(location.search);
  search.set(name, value);
  search.delete("view");
  return `?${search}`;
}

function Legend({
  ranking,
  by,
  words,
}: {
  ranking: ReturnType<typeof useOperation<"rank">>["data"] | null;
  by: By;
  words: string;
}) {
  const named = ranking?.tools.some((tool) => tool.by_name > 0) ?? false;
  return (
    <div className="row muted text-small hide-narrow list-head">
      <span className="grow">{ranking ? TEXT.ranking : by === "name" && words ? TEXT.named : TEXT.everything}</span>
      {ranking ? (
        <>
          <span className="legend-item">
            <i className="bar-words" />
            {TEXT.words}
          </span>
          <span className="legend-item">
            <i className="bar-meaning" />
            {TEXT.meaning}
          </span>
          {named && (
            <span className="legend-item">
              <i className="bar-name" />
              {TEXT.name}
            </span>
          )}
        </>
      ) : (
        <span>tokens</span>
      )}
    </div>
  );
}

interface NothingProps {
  words: string;
  near: { word: string; tools: number; servers: string[] } | null;
  known: number;
  onWord: (word: string) => void;
}

function Nothing({ words, near, known, onWord }: NothingProps) {
  if (known === 0)
    return (
      <p className="empty">
        {TEXT.none} <Link href="/servers?add=1">{TEXT.addServer}</Link>
      </p>
    );
  return (
    <p className="empty">
      {TEXT.nothingCalled(words)}{" "}
      {near && (
        <>
          {TEXT.didYouMean}
          <button type="button" className="plain-button link-button" onClick={() => onWord(near.word)}>
            {near.word}
          </button>
          ? It appears in {plural(near.tools, "tool")}
          {near.servers.length > 0 && ` of ${near.servers.join(" and ")}`}.
        </>
      )}
    </p>
  );
}

/** Told to a reader once the list has come to rest. */
function Heard({ text }: { text: string }) {
  const rested = useRested(text, 400);
  return (
    <p className="visually-hidden" role="status">
      {rested}
    </p>
  );
}

function useRested<T>(value: T, ms = 250): T {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return rested;
}

import { useCallback, useEffect, useState } from "react";

import { run } from "../../api/client";
import { refreshOn, useOperation } from "../../api/hooks";
import { useRightPanel } from "../../app/panels";
import { Link, navigate, setSearch, useRest, useSearch } from "../../app/router";
import { useTopTitle } from "../../app/title";
import { plural } from "../../ui/amounts";
import { Loading } from "../../ui/Loading";
import { useTwoColumns } from "../../ui/media";
import { Trouble } from "../../ui/Trouble";
import "../chat/page.css";
import "../chat/own.css";
import { ban, pin } from "./actions";
import { List } from "./List";
import "./page.css";
import "./own.css";
import { RetrievalSettings } from "./RetrievalSettings";
import { Search, type By } from "./Search";
import { ToolPanel } from "./ToolPanel";
import { heard, summary, WORDS } from "./words";

for (const kind of ["tools", "server", "server_removed", "config"]) refreshOn(kind, "rank", "find_tools", "tool_show");

let warmed = false;

/** The first question would wait until the host has read all tools; so that happens while somebody types. */
function useWarmRanking(): void {
  useEffect(() => {
    if (warmed) return;
    warmed = true;
    run("rank", { query: "what can this do", limit: 1 }).catch(() => (warmed = false));
  }, []);
}

let remembered = ""; // The question, for whoever comes back from one tool in a narrow window.

export default function ToolsPage() {
  useWarmRanking();
  const wide = useTwoColumns();
  const search = useSearch();
  const [first] = useRest();
  const asked = first ?? search.get("tool");
  useEffect(() => {
    if (!wide && !first && search.get("tool")) navigate(`/tools/${encodeURIComponent(search.get("tool") ?? "")}${without("tool")}`, { replace: true });
  }, [wide, first, search]);
  useTopTitle(!wide && first ? first : null);
  if (!wide && first) {
    return <div className="tw one"><h1 className="sr">{first}</h1><aside className="rgt" aria-label={`${WORDS.tryIt}: ${first}`}><ToolPanel key={first} name={first} /></aside></div>;
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
  const listed = useOperation("find_tools", { words: by === "name" ? rested : "" }, { enabled: !asks, keepPrevious: true });
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
    (name: string) => (wide ? navigate(`/tools${changed("tool", name)}`, { replace: true }) : navigate(`/tools/${encodeURIComponent(name)}${location.search}`)),
    [wide],
  );
  return (
    <div className={beside ? "tw" : "tw alone"}>
      <div className="lft">
        <div className="row" style={{ alignItems: "flex-end", marginBottom: 16 }}>
          <div className="grow">
            <h1>{WORDS.title}</h1>
            <p className="q sub" style={{ marginTop: 4 }}><span className="num">{summary(data)}</span> {WORDS.hint}</p>
          </div>
        </div>
        <Search text={text} by={by} ranking={ranking} onText={setText} onBy={(next) => setSearch({ by: next === "name" ? "name" : null })} onSettings={() => setSettings(true)} />
        <Legend ranking={ranking} by={by} words={rested} />
        {error && <Trouble error={error} again={() => void refetch()} />}
        {!data && !error && <Loading rows={8} height={80} />}
        {data && !asks && tools.length === 0 && <Nothing words={rested} near={listed.data?.near ?? null} known={data.known} onWord={setText} />}
        {data && <List key={asks ? rested : "names"} tools={tools} ranking={ranking} selected={selected} onOpen={open} onPin={(tool) => void pin(tool)} onBan={(tool) => void ban(tool)} />}
        {ranking?.note && <p className="m t12" style={{ marginTop: 12 }}>{ranking.note}</p>}
        <Heard text={ranking ? heard(ranking) : data && rested ? plural(tools.length, "tool") : ""} />
      </div>
      {beside && (
        <aside className="rgt" aria-label={selected ? `${WORDS.tryIt}: ${selected}` : WORDS.tryIt}>
          {selected ? <ToolPanel key={selected} name={selected} /> : <p className="q" style={{ padding: "18px 20px" }}>{data ? WORDS.choose : ""}</p>}
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

function Legend({ ranking, by, words }: { ranking: ReturnType<typeof useOperation<"rank">>["data"] | null; by: By; words: string }) {
  const named = ranking?.tools.some((tool) => tool.by_name > 0) ?? false;
  return (
    <div className="row m t12 hide-s head">
      <span className="grow">{ranking ? WORDS.ranking : by === "name" && words ? WORDS.named : WORDS.everything}</span>
      {ranking ? (
        <>
          <span className="lg"><i className="b1" />{WORDS.words}</span>
          <span className="lg"><i className="b2" />{WORDS.meaning}</span>
          {named && <span className="lg"><i className="b3" />{WORDS.name}</span>}
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
  if (known === 0) return <p className="empty">{WORDS.none} <Link href="/servers?add=1">{WORDS.addServer}</Link></p>;
  return (
    <p className="empty">
      {WORDS.nothingCalled(words)}{" "}
      {near && (
        <>
          {WORDS.didYouMean}
          <button type="button" className="plain linkish" onClick={() => onWord(near.word)}>{near.word}</button>? It is in {plural(near.tools, "tool")}
          {near.servers.length > 0 && ` of ${near.servers.join(" and ")}`}.
        </>
      )}
    </p>
  );
}

/** Told to a reader once the list has come to rest. */
function Heard({ text }: { text: string }) {
  const rested = useRested(text, 400);
  return <p className="sr" role="status">{rested}</p>;
}

function useRested<T>(value: T, ms = 250): T {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return rested;
}

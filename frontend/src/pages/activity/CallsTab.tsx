/** The tab Calls: filter field and menus, "3 new calls", loading of older ones, Export as `calls.json` and its most
 * calls. The host searches the records. */

import { useCallback, useEffect, useRef, useState } from "react";

import { run } from "../../api/client";
import { sentence } from "../../api/errors";
import { refreshOn, useOperation } from "../../api/hooks";
import { notify } from "../../app/notices";
import { setSearch } from "../../app/router";
import { download } from "../../ui/download";
import { Icon } from "../../ui/Icon";
import { LearnMore } from "../../ui/LearnMore";
import { Loading } from "../../ui/Loading";
import { Menu } from "../../ui/Menu";
import { scrollerOf } from "../../ui/window";
import type { Record } from "./callHistory";
import { CallTable } from "./CallTable";
import { OUTCOMES, said, saying, SINCE, WHO, type Option } from "./filter";
import { TEXT } from "./text";

const MOST_SAVED = 2000;

for (const kind of ["running", "waiting", "call", "calls"] as const) refreshOn(kind, "calls_running");

interface Props {
  words: string;
  record: Record;
  selected: string | null;
  older: () => void;
  take: () => void;
  onOpen: (id: string) => void;
  onAsked: (question: string) => void;
}

/** The record, its filter, and what runs now. */
export function CallsTab({ words, record, selected, older, take, onOpen, onAsked }: Props) {
  const { data: running } = useOperation("calls_running", {});
  const { data: policy } = useOperation("policy_list", {});
  const end = useRef<HTMLDivElement>(null);
  const unfiltered = words.trim() === "";
  useEffect(() => {
    const element = end.current;
    if (!element || !record.more) return;
    const watcher = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && older(), {
      root: scrollerOf(element),
      rootMargin: "600px",
    });
    watcher.observe(element);
    return () => watcher.disconnect();
  }, [record.more, older]);
  return (
    <>
      <Filter words={words} />
      {record.error !== null && (
        <p className="text-small calls-error" role="alert">
          {sentence(record.error)}
        </p>
      )}
      {record.fresh.length > 0 && (
        <div className="new-calls">
          <button
            type="button"
            className="btn small"
            onClick={() => {
              take();
              scrollerOf(end.current)?.scrollTo({ top: 0 });
            }}
          >
            {TEXT.newer(record.fresh.length)} ↑
          </button>
        </div>
      )}
      {!record.latest && record.error === null ? (
        <Loading rows={12} height={36} />
      ) : record.rows.length === 0 && (running ?? []).length === 0 ? (
        <p className="empty">
          {unfiltered ? TEXT.empty : TEXT.nothing}{" "}
          {!unfiltered && (
            <button type="button" className="plain-button link-button" onClick={() => setSearch({ words: null })}>
              {TEXT.clear}
            </button>
          )}
          {unfiltered && <LearnMore page="audit.html" />}
        </p>
      ) : (
        <CallTable
          running={unfiltered ? (running ?? []) : []}
          calls={record.rows}
          total={record.latest?.matching ?? 0}
          selected={selected}
          rules={policy?.rules ?? []}
          onOpen={onOpen}
          onAsked={onAsked}
        />
      )}
      <div ref={end}>{record.more && <p className="muted text-small calls-loading">{TEXT.loadingOlder}</p>}</div>
    </>
  );
}

function Filter({ words }: { words: string }) {
  const [text, setText] = useState(words);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => setText(words), [words]);
  const put = useCallback((next: string) => setSearch({ words: next || null, call: null }), []);
  function type(next: string) {
    setText(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => put(next.trim()), 300);
  }
  async function save() {
    const { calls, matching } = await run("calls", { words, limit: MOST_SAVED });
    download("calls.json", JSON.stringify(calls, null, 2), "application/json");
    if ((matching ?? 0) > calls.length) notify(TEXT.saved(calls.length, matching ?? 0));
  }
  return (
    <div className="filters">
      <label className="field grow">
        <Icon name="search" small />
        <input
          data-search
          value={text}
          placeholder={TEXT.filter}
          aria-label={TEXT.filterLabel}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => type(event.target.value)}
        />
      </label>
      <Chooser label={TEXT.outcome} name="outcome" options={OUTCOMES} words={words} onWords={put} />
      <Chooser label={TEXT.who} name="who" options={WHO} words={words} onWords={put} className="hide-narrow" />
      <Chooser label={TEXT.when} name="since" options={SINCE} words={words} onWords={put} className="hide-narrow" />
      <button type="button" className="btn bare hide-narrow" onClick={() => void save()}>
        {TEXT.export}
      </button>
    </div>
  );
}

interface ChooserProps {
  label: string;
  name: string;
  options: readonly Option[];
  words: string;
  onWords: (words: string) => void;
  className?: string;
}

function Chooser({ label, name, options, words, onWords, className = "" }: ChooserProps) {
  const value = said(words, name);
  const chosen = options.find((one) => one.value === value && value !== "");
  return (
    <Menu
      align="start"
      trigger={
        <button type="button" className={`btn ${className}`} aria-label={chosen ? `${label}: ${chosen.name}` : label}>
          {chosen?.name ?? label}
        </button>
      }
      entries={options.map((one) => ({
        name: (
          <>
            {one.name}
            {one.value === value && <span className="visually-hidden"> (chosen)</span>}
          </>
        ),
        onSelect: () => onWords(saying(words, name, one.value)),
      }))}
    />
  );
}

import { useCallback, useEffect, useMemo, useRef } from "react";

import { useLive, useOperation } from "../../api/hooks";
import type { LiveEvent } from "../../api/live";
import { useKeys } from "../../app/keys";
import { useRightPanel } from "../../app/panels";
import { navigate, setSearch, useRest, useSearch } from "../../app/router";
import { useTopTitle } from "../../app/title";
import { useTwoColumns } from "../../ui/media";
import { TabBar } from "../../ui/TabBar";
import { scrollerOf } from "../../ui/window";
import "../chat/page.css";
import "../chat/own.css";
import { useCalls } from "./calling";
import { CallsTab } from "./CallsTab";
import "./page.css";
import "./own.css";
import { PathPanel } from "./PathPanel";
import { RequestsTab } from "./RequestsTab";
import { RulesTab } from "./RulesTab";
import { WaitingTab } from "./WaitingTab";
import { WhatIf } from "./WhatIf";
import { summary, WORDS } from "./words";

const TABS = ["calls", "rules", "waiting", "requests"] as const;
const RECOUNT = 2000;
type Tab = (typeof TABS)[number];

export default function ActivityPage() {
  const wide = useTwoColumns();
  const search = useSearch();
  const [first] = useRest();
  const asked = search.get("call");
  useEffect(() => {
    if (!wide && !first && asked) navigate(`/activity/${encodeURIComponent(asked)}`, { replace: true });
  }, [wide, first, asked]);
  useTopTitle(!wide && first ? WORDS.path : null);
  if (!wide && first) return <div className="aw one"><h1 className="sr">{WORDS.path}</h1><aside className="rgt" aria-label={WORDS.path}><PathPanel id={first} /></aside></div>;
  return <Both wide={wide} asked={first ?? asked} />;
}

function Both({ wide, asked }: { wide: boolean; asked: string | null }) {
  const search = useSearch();
  const tab: Tab = TABS.find((one) => one === search.get("tab")) ?? (search.get("question") ? "waiting" : "calls");
  const words = search.get("words") ?? "";
  const beside = useRightPanel("activity") && wide && (tab === "calls" || tab === "rules");
  const top = useRef<HTMLHeadingElement>(null);
  const atTop = useCallback(() => (scrollerOf(top.current)?.scrollTop ?? 0) < 40, []);
  const { record, older, take } = useCalls(words, atTop);
  const counts = useOperation("call_counts", {});
  useRecounted(counts.refetch);
  const { data: policy } = useOperation("policy_list", {});
  const { data: waiting } = useOperation("waiting", {});
  const selected = asked ?? (wide && tab === "calls" ? (record.rows[0]?.call_id ?? null) : null);
  const open = useCallback((id: string) => (wide ? setSearch({ call: id }) : navigate(`/activity/${encodeURIComponent(id)}`)), [wide]);
  const onAsked = useCallback((question: string) => setSearch({ tab: "waiting", question }), []);
  useKeys(useMemo(() => ({ j: () => focusFirst(), ArrowDown: () => focusFirst() }), []));
  return (
    <div className={beside ? "aw" : "aw alone"}>
      <div className="lft">
        <h1 ref={top}>{WORDS.title}</h1>
        <p className="q sub num" style={{ marginTop: 4 }}>{summary(counts.data)}</p>
        <div className="tabbed">
          <TabBar
            label={WORDS.title}
            value={tab}
            onChange={(next) => setSearch({ tab: next === "calls" ? null : next, question: null })}
            tabs={[
              { value: "calls", name: WORDS.tabs.calls, content: <CallsTab words={words} selected={selected} onOpen={open} {...{ record, older, take, onAsked }} /> },
              { value: "rules", name: <>{WORDS.tabs.rules} <span className="n">{policy?.rules.length ?? ""}</span></>, content: <RulesTab /> },
              { value: "waiting", name: <>{WORDS.tabs.waiting} <span className="n">{waiting?.count || ""}</span></>, content: <WaitingTab wanted={search.get("question")} /> },
              { value: "requests", name: WORDS.tabs.requests, content: <RequestsTab /> },
            ]}
          />
        </div>
        {!wide && tab === "rules" && <WhatIf />}
      </div>
      {beside && (
        <aside className="rgt" aria-label={tab === "rules" ? "What would happen?" : WORDS.path}>
          {tab === "rules" ? <WhatIf /> : selected ? <PathPanel key={selected} id={selected} /> : <p className="q" style={{ padding: "18px" }}>{record.latest ? WORDS.choose : ""}</p>}
        </aside>
      )}
    </div>
  );
}

/** The sums are made anew some time after calls were made, not after each. */
function useRecounted(again: () => unknown): void {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useLive(
    useCallback(
      (event: LiveEvent) => {
        if ((event.kind !== "call" && event.kind !== "calls") || timer.current !== undefined) return;
        timer.current = setTimeout(() => {
          timer.current = undefined;
          again();
        }, RECOUNT);
      },
      [again],
    ),
  );
  useEffect(() => () => clearTimeout(timer.current), []);
}

function focusFirst(): void {
  document.querySelector<HTMLElement>(".p-activity .al [data-row]")?.focus();
}

/** The Activity page: its tabs, the summary above them, how often the sums are counted again, and the panel beside the
 * list. */

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
import { useCalls } from "./callHistory";
import { CallsTab } from "./CallsTab";
import "./page.css";
import "./calls.css";
import "./rules.css";
import { PathPanel } from "./PathPanel";
import { RequestsTab } from "./RequestsTab";
import { RulesTab } from "./RulesTab";
import { WaitingTab } from "./WaitingTab";
import { WhatIf } from "./WhatIf";
import { summary, TEXT } from "./text";

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
  useTopTitle(!wide && first ? TEXT.path : null);
  if (!wide && first)
    return (
      <div className="activity-layout panel-only">
        <h1 className="visually-hidden">{TEXT.path}</h1>
        <aside className="side-pane" aria-label={TEXT.path}>
          <PathPanel id={first} />
        </aside>
      </div>
    );
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
  const open = useCallback(
    (id: string) => (wide ? setSearch({ call: id }) : navigate(`/activity/${encodeURIComponent(id)}`)),
    [wide],
  );
  const onAsked = useCallback((question: string) => setSearch({ tab: "waiting", question }), []);
  useKeys(useMemo(() => ({ j: () => focusFirst(), ArrowDown: () => focusFirst() }), []));
  return (
    <div className={beside ? "activity-layout" : "activity-layout without-panel"}>
      <div className="list-pane">
        <h1 ref={top}>{TEXT.title}</h1>
        <p className="secondary page-summary num space-above-4">{summary(counts.data)}</p>
        <div className="tabbed">
          <TabBar
            label={TEXT.title}
            value={tab}
            onChange={(next) => setSearch({ tab: next === "calls" ? null : next, question: null })}
            tabs={[
              {
                value: "calls",
                name: TEXT.tabs.calls,
                content: (
                  <CallsTab words={words} selected={selected} onOpen={open} {...{ record, older, take, onAsked }} />
                ),
              },
              {
                value: "rules",
                name: (
                  <>
                    {TEXT.tabs.rules} <span className="count">{policy?.rules.length ?? ""}</span>
                  </>
                ),
                content: <RulesTab />,
              },
              {
                value: "waiting",
                name: (
                  <>
                    {TEXT.tabs.waiting} <span className="count">{waiting?.count || ""}</span>
                  </>
                ),
                content: <WaitingTab wanted={search.get("question")} />,
              },
              { value: "requests", name: TEXT.tabs.requests, content: <RequestsTab /> },
            ]}
          />
        </div>
        {!wide && tab === "rules" && <WhatIf />}
      </div>
      {beside && (
        <aside className="side-pane" aria-label={tab === "rules" ? "What would happen?" : TEXT.path}>
          {tab === "rules" ? (
            <WhatIf />
          ) : selected ? (
            <PathPanel key={selected} id={selected} />
          ) : (
            <p className="secondary panel-hint">{record.latest ? TEXT.choose : ""}</p>
          )}
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
  document.querySelector<HTMLElement>(".page-activity .calls-table [data-row]")?.focus();
}

/** The panel beside the steps: which tabs it has (Trace, Setup, Checks, Runs), which is open at first, and its
 * title. */

import { useState } from "react";

import { useOperation } from "../../../api/hooks";
import { deferred } from "../../../ui/deferred";
import { reveal } from "../../../ui/hidden";
import { TabBar } from "../../../ui/TabBar";
import { kindBeside } from "../editor/kinds";
import type { EditorControls } from "../editor/state";
import type { Open } from "../editor/views";
import { nameOf, type Graph } from "../graph/file";
import type { Kinds } from "../graph/kinds";
import type { ShownRun } from "../runs/useRun";
import { visitPlace } from "../runs/progress";
import { STEPS } from "../text/editor";
import { PANEL } from "../text/panel";
import { ChecksTab } from "./ChecksTab";
import "./panel.css";
import { StepSetup } from "./StepSetup";
import { WorkflowSetup } from "./WorkflowSetup";

const Questions = deferred(() => import("./Questions").then((module) => module.Questions));
const RunsTab = deferred(() => import("./RunsTab").then((module) => module.RunsTab));
const TraceTab = deferred(() => import("./TraceTab").then((module) => module.TraceTab));

export interface PanelProps {
  editor: EditorControls;
  /** What is shown: the workflow of the editor, or that of an older run. */
  graph: Graph;
  kinds: Kinds;
  shown: ShownRun | null;
  frozen: boolean;
  onGo: (id: string) => void;
  onOpen: (open: Open) => void;
}

type Tab = keyof typeof PANEL.tabs;

/** What is known and set about the selected step, or about the workflow. */
export function Panel({ editor, graph, kinds, shown, frozen, onGo }: PanelProps) {
  const [chosen, setChosen] = useState<Tab | null>(null);
  const ids = [...editor.state.selected].filter((id) => graph.nodes[id]);
  const id = ids.length === 1 ? (ids[0] ?? null) : null;
  const tab: Tab = chosen ?? (shown ? "trace" : "setup");
  const { data } = useOperation("workflow_runs", { name: editor.graph.name, limit: 100 });
  const count = data ? (data.more ? `${data.runs.length}+` : String(data.runs.length || "")) : "";
  return (
    <aside className="workflow-panel" aria-label={id ? PANEL.label(nameOf(graph, id)) : PANEL.workflow}>
      <PanelHead {...{ graph, kinds, shown, id }} several={ids.length} />
      {shown && <Questions shown={shown} graph={graph} id={id} onGo={onGo} />}
      <TabBar
        label={PANEL.workflow}
        value={tab}
        onChange={(next) => setChosen(next as Tab)}
        tabs={[
          {
            value: "trace",
            name: PANEL.tabs.trace,
            content: <TraceTab key={id ?? ""} {...{ shown, graph, id, onGo }} />,
          },
          {
            value: "setup",
            name: PANEL.tabs.setup,
            content: id ? (
              <StepSetup key={id} {...{ editor, graph, kinds, id, frozen }} />
            ) : (
              <WorkflowSetup {...{ editor, frozen }} />
            ),
          },
          {
            value: "checks",
            name: PANEL.tabs.checks,
            content: <ChecksTab key={id ?? ""} {...{ editor, graph, kinds, id, frozen }} />,
          },
          {
            value: "runs",
            name: (
              <>
                {PANEL.tabs.runs} <span className="count">{count}</span>
              </>
            ),
            content: <RunsTab {...{ editor, graph, shown, id }} />,
          },
        ]}
      />
    </aside>
  );
}

interface HeadProps {
  graph: Graph;
  kinds: Kinds;
  shown: ShownRun | null;
  id: string | null;
  several: number;
}

function PanelHead({ graph, kinds, shown, id, several }: HeadProps) {
  const step = id === null ? undefined : graph.nodes[id];
  if (!step || id === null)
    return (
      <div className="panel-title">
        <p className="muted text-small">{several > 1 ? PANEL.several(several) : PANEL.workflow}</p>
        <h2 className="ellipsis">{graph.name}</h2>
      </div>
    );
  const visit = shown?.progress.get(id)?.visit.step;
  const { items, visit: number } = visitPlace(visit ?? "");
  return (
    <div className="panel-title">
      <p className="muted text-small ellipsis">
        {[kindBeside(step, kinds), visit ? STEPS.place(items, number) : ""].filter(Boolean).join(" · ")}
      </p>
      <h2 className="ellipsis">{reveal(nameOf(graph, id))}</h2>
    </div>
  );
}

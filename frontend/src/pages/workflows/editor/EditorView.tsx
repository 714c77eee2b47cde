/** The editor of a workflow: canvas or list and which is remembered, palette, panel, where a new step goes, and
 * showing a run on the steps it ran with. */

import { useCallback, useEffect, useMemo, useState } from "react";

import type { RunShown, WorkflowProblem } from "../../../api/types";
import { useRightPanel } from "../../../app/panels";
import { navigate, setSearch, useSearch } from "../../../app/router";
import { deferred } from "../../../ui/deferred";
import { ErrorBox } from "../../../ui/ErrorBox";
import { Loading } from "../../../ui/Loading";
import { useMedia } from "../../../ui/media";
import { addStep } from "../graph/commands";
import { readGraph, type Graph, type Point } from "../graph/file";
import { placed } from "../graph/layout";
import { mainOutput, type Kinds } from "../graph/kinds";
import { rowsOf } from "../graph/order";
import { Panel } from "../panel/Panel";
import { Bar } from "./Bar";
import { NoticeStrips } from "./NoticeStrips";
import { Palette } from "./Palette";
import { problemsToShow, problemText } from "./problems";
import { stepEntries } from "./stepMenu";
import { useEditorState, type EditorControls } from "./state";
import { useEditorKeys } from "./useEditorKeys";
import { useProblems } from "./useProblems";
import { useSaving } from "./useSaving";
import { useStart } from "./useStart";
import type { Open, View } from "./views";
import { useShownRun } from "../runs/useRun";

const EditorDialogs = deferred(() => import("./EditorDialogs").then((module) => module.EditorDialogs));
const ListView = deferred(() => import("./ListView").then((module) => module.ListView));
const Canvas = deferred(
  () => import("../canvas/Canvas").then((module) => module.default),
  () => <Loading />,
  true,
);

interface Props {
  kinds: Kinds;
  stored: Graph;
  version: string;
  problems: readonly WorkflowProblem[];
  run: RunShown | undefined;
  runError: Error | null;
}

export function EditorView({ kinds, stored, version, problems, run, runError }: Props) {
  const editor = useEditorState(stored, version);
  const { now, change, select } = editor;
  const narrow = useMedia("(max-width: 820px)");
  const [view, setView] = useView(narrow);
  const [open, setOpen] = useState<Open | null>(null);
  const [wanted, setWanted] = useState<{ id: string; turn: number } | null>(null);
  const saving = useSaving(editor, version);
  const { name } = stored;
  const showRun = useCallback(
    (id: string) => {
      setOpen(null);
      navigate(`/workflows/${encodeURIComponent(name)}?run=${encodeURIComponent(id)}`);
    },
    [name],
  );
  const starting = useStart(editor, saving, showRun);
  const { review } = starting;
  useEffect(() => {
    if (review) setOpen({ what: "run" });
  }, [review]);
  const shownGraph = useRunGraph(run, editor.graph);
  const shown = useShownRun(run, shownGraph);
  const all = useProblems(editor.graph, editor.dirty, problems);
  const { stored: saved, selected } = editor.state;
  const found = useMemo(
    () =>
      problemsToShow(all, editor.graph, saved, selected).map((one) => ({
        ...one,
        message: problemText(one, editor.graph, kinds),
      })),
    [all, editor.graph, saved, selected, kinds],
  );
  const frozen = shownGraph !== editor.graph;
  const beside = useRightPanel("workflows");
  useStepInAddress(shownGraph, editor.select);

  const look = useMemo(
    () => ({
      kinds,
      selected: editor.state.selected,
      breakpoints: editor.state.breakpoints,
      problems: new Map(found.flatMap((one) => (one.node && !one.warning ? [[one.node, one.message] as const] : []))),
      shown,
    }),
    [kinds, editor.state.selected, editor.state.breakpoints, found, shown],
  );
  const goTo = useCallback(
    (id: string) => {
      select([id]);
      setWanted((before) => ({ id, turn: (before?.turn ?? 0) + 1 }));
    },
    [select],
  );
  const openPanel = useCallback(
    (id: string) => {
      select([id]);
      requestAnimationFrame(() => document.querySelector<HTMLElement>(".workflow-panel [role=tab]")?.focus());
    },
    [select],
  );
  const add = useCallback(
    (type: string, at?: Point) => {
      const { history, selected } = now();
      const after = at ? undefined : placeFor(history.present, kinds, selected);
      const added = addStep(history.present, kinds, type, at ? { at } : after ? { after } : {});
      change(() => placed(added.graph), null, [added.id]);
      if (!at) setWanted((before) => ({ id: added.id, turn: (before?.turn ?? 0) + 1 }));
    },
    [now, change, kinds],
  );
  useEditorKeys({ editor, kinds, frozen, saving, onOpen: setOpen, view, onView: setView });

  const palette = !narrow && !frozen && view === "canvas";
  return (
    <div className={`workflow-editor${palette ? "" : " without-palette"}${beside ? "" : " without-panel"}`}>
      <Bar
        {...{ editor, kinds, view, narrow, saving, starting, run, frozen }}
        problems={found.filter((one) => !one.warning).length}
        onView={setView}
        onOpen={setOpen}
      />
      {palette && <Palette kinds={kinds} onAdd={add} />}
      <div className="workflow-main">
        <NoticeStrips {...{ editor, saving, run, frozen }} problems={found} onGo={goTo} onOpen={setOpen} />
        {runError && !run && <ErrorBox error={runError} />}
        {view === "canvas" && (
          <Canvas
            graph={shownGraph}
            look={look}
            frozen={frozen}
            onChange={editor.change}
            onSelect={editor.select}
            onOpen={openPanel}
            onAdd={add}
            entriesOf={(id) => stepEntries({ editor, look, graph: shownGraph, onOpen: setOpen }, id)}
            wanted={wanted}
          />
        )}
        {view === "list" && (
          <ListView {...{ editor, frozen, look, wanted }} graph={shownGraph} onOpenStep={openPanel} onOpen={setOpen} />
        )}
      </div>
      {(beside || narrow) && (
        <Panel {...{ editor, kinds, shown, frozen }} graph={shownGraph} onGo={goTo} onOpen={setOpen} />
      )}
      {open && (
        <EditorDialogs
          open={open}
          editor={editor}
          kinds={kinds}
          saving={saving}
          starting={starting}
          onClose={() => {
            setOpen(null);
            starting.forget();
          }}
        />
      )}
    </div>
  );
}

/** A run is shown on the workflow as it was when the run began, where that differs from the one in the editor. */
function useRunGraph(run: RunShown | undefined, graph: Graph): Graph {
  const definition = run?.definition;
  const text = useMemo(() => (definition ? JSON.stringify(definition) : ""), [definition]);
  const ran = useMemo(() => (text ? placed(readGraph(JSON.parse(text) as unknown)) : null), [text]);
  return useMemo(() => {
    if (!ran) return graph;
    const same =
      Object.keys(ran.nodes).length === Object.keys(graph.nodes).length &&
      Object.keys(ran.nodes).every((id) => graph.nodes[id]?.type === ran.nodes[id]?.type) &&
      JSON.stringify(ran.edges) === JSON.stringify(graph.edges);
    return same ? graph : ran;
  }, [ran, graph]);
}

const VIEW = "toolcrib.workflow-view";

function useView(narrow: boolean): [View, (view: View) => void] {
  const [chosen, setChosen] = useState<View | null>(() => localStorage.getItem(VIEW) as View | null);
  const [part, setPart] = useState<View>("list");
  const set = useCallback(
    (view: View) => {
      if (narrow) return setPart(view);
      localStorage.setItem(VIEW, view);
      setChosen(view);
    },
    [narrow],
  );
  return [narrow ? part : chosen === "list" ? "list" : "canvas", set];
}

/** `?step=` in the address selects a step once, so that a link can lead to it. */
function useStepInAddress(graph: Graph, select: EditorControls["select"]): void {
  const step = useSearch().get("step");
  useEffect(() => {
    if (!step) return;
    const node = (step.split("/").at(-1) ?? "").replace(/#\d+$/, "");
    if (graph.nodes[node]) select([node]);
    setSearch({ step: null });
  }, [step, graph, select]);
}

/** Where a step goes that is added without a place: after the selected one, else at the end. */
function placeFor(
  graph: Graph,
  kinds: Kinds,
  selected: ReadonlySet<string>,
): { id: string; output: string } | undefined {
  const [chosen] = selected;
  const last = rowsOf(graph, kinds).filter((row) => row.depth === 0 && !row.loose);
  const id = chosen ?? last.at(-1)?.id;
  const step = id === undefined ? undefined : graph.nodes[id];
  const output = step ? mainOutput(step, kinds) : null;
  return id !== undefined && output !== null ? { id, output } : undefined;
}

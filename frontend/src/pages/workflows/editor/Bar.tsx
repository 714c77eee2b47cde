/** The bar above a workflow: name, state of the run, "Not saved", Run, Save, pause and stop, undo, and the menu
 * (schedule, versions, export, remove). */

import type { RunShown } from "../../../api/types";
import { sentence } from "../../../api/errors";
import { useOperation } from "../../../api/hooks";
import { Link, navigate } from "../../../app/router";
import { duration } from "../../../ui/amounts";
import { reveal } from "../../../ui/hidden";
import { Icon } from "../../../ui/Icon";
import { Menu } from "../../../ui/Menu";
import { Segments } from "../../../ui/Segments";
import { Status } from "../../../ui/Status";
import type { Kinds } from "../graph/kinds";
import { layoutOf } from "../graph/layout";
import { moveSteps } from "../graph/commands";
import { exportWorkflow, removeWorkflow } from "../list/workflowActions";
import { RunGlyphs } from "../runs/RunGlyphs";
import { isOver, runState, took } from "../runs/states";
import { actOnRun, useClock } from "../runs/useRun";
import { BAR, PROBLEMS, START } from "../text/editor";
import type { EditorControls } from "./state";
import type { Saving } from "./useSaving";
import type { Starting } from "./useStart";
import type { Open, View } from "./views";

interface Props {
  editor: EditorControls;
  kinds: Kinds;
  view: View;
  narrow: boolean;
  saving: Saving;
  starting: Starting;
  run: RunShown | undefined;
  frozen: boolean;
  problems: number;
  onView: (view: View) => void;
  onOpen: (open: Open) => void;
}

export function Bar({ editor, view, narrow, saving, starting, run, frozen, problems, onView, onOpen }: Props) {
  const { name } = editor.graph;
  const { data } = useOperation("workflow_runs", { name, limit: 14 });
  const active = run !== undefined && !isOver(run.state);
  return (
    <div className="workflow-bar">
      <div className="workflow-title row grow">
        <h1 className="ellipsis text-reading">{name}</h1>
        {run ? <RunStatus run={run} /> : <EditStatus dirty={editor.dirty} problems={problems} />}
      </div>
      <span className="hide-medium">
        <RunGlyphs runs={data?.runs ?? []} />
      </span>
      <Segments
        label={BAR.view}
        value={view}
        options={
          narrow
            ? [
                { value: "list", name: BAR.list },
                { value: "trace", name: BAR.trace },
              ]
            : [
                { value: "canvas", name: BAR.canvas },
                { value: "list", name: BAR.list },
              ]
        }
        onChange={onView}
      />
      {narrow && <span className="grow" />}
      {active ? (
        <RunButtons run={run} />
      ) : (
        <IdleButtons {...{ editor, saving, starting, frozen, onOpen }} run={run} narrow={narrow} />
      )}
    </div>
  );
}

function RunStatus({ run }: { run: RunShown }) {
  const active = !isOver(run.state);
  const now = useClock(active);
  const shown = runState(run.state);
  const time = took(run, now);
  return (
    <>
      <span className="text-small" role="status">
        <Status shape={shown.shape} word={shown.word} />
      </span>
      <span className="muted text-small num nowrap hide-narrow">
        {BAR.runOf(shortRun(run.run))}
        {time === null ? "" : ` · ${duration(time)}`}
      </span>
    </>
  );
}

/** The end of a run's id is enough to tell it from others of its workflow. */
export function shortRun(run: string): string {
  return (run.split("-").at(-1) ?? run).slice(0, 6);
}

function EditStatus({ dirty, problems }: { dirty: boolean; problems: number }) {
  return (
    <span className="muted text-small nowrap">
      {problems > 0 ? PROBLEMS.title(problems) : ""}
      {problems > 0 && dirty ? " · " : ""}
      {dirty ? BAR.unsaved : ""}
    </span>
  );
}

function RunButtons({ run }: { run: RunShown }) {
  const paused = run.state === "paused";
  return (
    <div className="row workflow-buttons">
      <button
        type="button"
        className="btn bare small"
        disabled={!paused}
        onClick={() => void actOnRun("workflow_step_once", run.run)}
      >
        {BAR.step}
      </button>
      <button
        type="button"
        className="btn small pause-button"
        onClick={() => void actOnRun(paused ? "workflow_resume" : "workflow_pause", run.run)}
      >
        {paused ? BAR.resume : BAR.pause}
      </button>
      <button type="button" className="btn small" onClick={() => void actOnRun("workflow_cancel", run.run)}>
        {BAR.stop}
      </button>
    </div>
  );
}

interface RunButtonProps {
  starting: Starting;
  /** Whether the workflow has inputs to ask for. */
  asks: boolean;
  onOpen: (open: Open) => void;
}

/** Starts at once if there is nothing to ask; why it did not start is said right below. */
function RunButton({ starting, asks, onOpen }: RunButtonProps) {
  const { busy, trouble } = starting;
  return (
    <div className="run-start">
      <button
        type="button"
        className="btn primary small start-button"
        aria-busy={busy}
        // Not `disabled`: that would take the focus away, and a dialog could not give it back.
        aria-disabled={busy}
        onClick={() => !busy && (asks ? onOpen({ what: "run" }) : void starting.start({}))}
      >
        {busy ? START.starting : BAR.run}
      </button>
      {trouble !== null && !asks && (
        <div className="run-trouble" role="alert">
          <p className="grow">{reveal(sentence(trouble))}</p>
          <button
            type="button"
            className="btn bare small icon-only"
            aria-label={START.close}
            onClick={() => starting.forget()}
          >
            <Icon name="close" small />
          </button>
        </div>
      )}
    </div>
  );
}

interface IdleProps {
  editor: EditorControls;
  saving: Saving;
  starting: Starting;
  frozen: boolean;
  narrow: boolean;
  run: RunShown | undefined;
  onOpen: (open: Open) => void;
}

function IdleButtons({ editor, saving, starting, frozen, narrow, run, onOpen }: IdleProps) {
  const { name } = editor.graph;
  const { past, future } = editor.state.history;
  const tidy = () => editor.change((graph) => moveSteps(graph, layoutOf(graph)));
  return (
    <div className="row workflow-buttons">
      {run && (
        <Link className="btn bare small" href={`/workflows/${encodeURIComponent(name)}`}>
          {BAR.leaveRun}
        </Link>
      )}
      {!narrow && !run && (
        <>
          <button
            type="button"
            className="btn bare small icon-only"
            aria-label={BAR.undo}
            disabled={past.length === 0}
            onClick={editor.undo}
          >
            <Icon name="undo" small />
          </button>
          <button
            type="button"
            className="btn bare small icon-only"
            aria-label={BAR.redo}
            disabled={future.length === 0}
            onClick={editor.redo}
          >
            <Icon name="redo" small />
          </button>
        </>
      )}
      {!frozen && (
        <button
          type="button"
          className="btn small"
          disabled={!editor.dirty || saving.busy}
          onClick={() => void saving.save()}
        >
          {BAR.save}
        </button>
      )}
      <RunButton starting={starting} asks={Object.keys(editor.graph.inputs).length > 0} onOpen={onOpen} />
      <Menu
        trigger={
          <button type="button" className="btn bare small icon-only" aria-label={BAR.more}>
            <Icon name="dots" small />
          </button>
        }
        entries={[
          { name: BAR.schedule, onSelect: () => onOpen({ what: "schedule" }) },
          { name: BAR.versions, onSelect: () => onOpen({ what: "versions" }) },
          { name: BAR.plan, disabled: frozen, onSelect: () => onOpen({ what: "plan" }) },
          { name: BAR.tidy, disabled: frozen, onSelect: tidy },
          { name: BAR.undo, apart: true, disabled: frozen || past.length === 0, onSelect: editor.undo },
          { name: BAR.redo, disabled: frozen || future.length === 0, onSelect: editor.redo },
          { name: BAR.export, apart: true, onSelect: () => void exportWorkflow(name) },
          { name: BAR.duplicate, onSelect: () => onOpen({ what: "duplicate" }) },
          {
            name: BAR.remove,
            danger: true,
            onSelect: () => void removeWorkflow(name).then((done) => done && navigate("/workflows")),
          },
        ]}
      />
    </div>
  );
}

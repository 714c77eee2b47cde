/** The tab Runs: history of a workflow, how many are shown, run again or from a step, compare two. */

import { useState } from "react";

import { run as perform } from "../../../api/client";
import { sentence } from "../../../api/errors";
import { refreshSoon, useOperation } from "../../../api/hooks";
import type { RunSummary } from "../../../api/types";
import { notify } from "../../../app/notices";
import { Link, navigate } from "../../../app/router";
import { dayAndTime, duration } from "../../../ui/amounts";
import { ErrorBox } from "../../../ui/ErrorBox";
import { reveal } from "../../../ui/hidden";
import { Loading } from "../../../ui/Loading";
import { Status } from "../../../ui/Status";
import type { EditorControls } from "../editor/state";
import { nameOf, type Graph } from "../graph/file";
import { CompareDialog } from "../runs/CompareDialog";
import { runState, took } from "../runs/states";
import type { ShownRun } from "../runs/useRun";
import { RUNS } from "../text/runs";

interface Props {
  editor: EditorControls;
  graph: Graph;
  shown: ShownRun | null;
  id: string | null;
}

/** The history: open a run, run again, compare two. */
export function RunsTab({ editor, graph, shown, id }: Props) {
  const { name } = editor.graph;
  const [limit, setLimit] = useState(100);
  const { data, error } = useOperation("workflow_runs", { name, limit }, { keepPrevious: true });
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [comparing, setComparing] = useState(false);
  if (error) return <ErrorBox error={error} />;
  if (!data) return <Loading rows={3} height={44} />;
  const failed = data.failed_starts > 0 && (
    <p className="error-text text-small">{RUNS.notStarted(data.failed_starts)}</p>
  );
  if (data.runs.length === 0) {
    return <div className="panel-body">{failed || <p className="secondary panel-note">{RUNS.none}</p>}</div>;
  }
  const toggle = (run: string) =>
    setChosen(chosen.includes(run) ? chosen.filter((one) => one !== run) : [...chosen, run].slice(-2));
  const [a, b] = chosen;
  return (
    <div className="panel-body">
      {failed}
      {shown && (
        <div className="row wrap">
          <button type="button" className="btn small" onClick={() => void again(name, shown.run.run, null)}>
            {RUNS.again}
          </button>
          {id !== null && shown.reached.has(id) && (
            <button type="button" className="btn small" onClick={() => void again(name, shown.run.run, id)}>
              {RUNS.from(nameOf(graph, id))}
            </button>
          )}
        </div>
      )}
      <div className="row compare-row">
        <span className="muted text-small grow">{RUNS.compareHint}</span>
        <button type="button" className="btn small" disabled={b === undefined} onClick={() => setComparing(true)}>
          {RUNS.compare}
        </button>
      </div>
      <ul className="run-list">
        {data.runs.map((run) => (
          <RunRow
            key={run.run}
            run={run}
            path={`/workflows/${encodeURIComponent(name)}?run=${encodeURIComponent(run.run)}`}
            current={shown?.run.run === run.run}
            chosen={chosen.includes(run.run)}
            onChoose={() => toggle(run.run)}
          />
        ))}
      </ul>
      {data.more && limit < 1000 && (
        <button type="button" className="btn small" onClick={() => setLimit(Math.min(1000, limit + 300))}>
          {RUNS.older}
        </button>
      )}
      {data.more && limit >= 1000 && <p className="muted text-small">{RUNS.latest(name)}</p>}
      {comparing && a !== undefined && b !== undefined && (
        <CompareDialog a={a} b={b} graph={graph} onClose={() => setComparing(false)} />
      )}
    </div>
  );
}

interface RowProps {
  run: RunSummary;
  path: string;
  current: boolean;
  chosen: boolean;
  onChoose: () => void;
}

function RunRow({ run, path, current, chosen, onChoose }: RowProps) {
  const time = took(run, Date.now());
  const when = dayAndTime(run.started);
  return (
    <li className={current ? "selected" : ""} data-run={run.run}>
      <input type="checkbox" checked={chosen} aria-label={RUNS.select(when)} onChange={onChoose} />
      <Link href={path} aria-current={current ? "true" : undefined} className="inherit-color run-link">
        <Status {...runState(run.state)} />
        <span className="num muted text-small">{when}</span>
      </Link>
      <span className="num muted text-small">{time === null ? "" : duration(time)}</span>
      {run.error && <p className="text-small secondary run-error ellipsis">{reveal(run.error.message)}</p>}
    </li>
  );
}

async function again(name: string, run: string, from: string | null): Promise<void> {
  try {
    const started = await perform("workflow_rerun", { run, from_node: from, detach: true });
    refreshSoon("workflow_runs");
    navigate(`/workflows/${encodeURIComponent(name)}?run=${encodeURIComponent(started.run)}`);
  } catch (error) {
    notify(sentence(error));
  }
}

/** Two runs compared step by step; a step that differs shows both sides. The host compares them. */

import { useState } from "react";

import { useOperation } from "../../../api/hooks";
import type { RunSummary, StepComparison, StepShown, StepTrace } from "../../../api/types";
import { dayAndTime, duration } from "../../../ui/amounts";
import { Dialog } from "../../../ui/Dialog";
import { Difference } from "../../../ui/Difference";
import { ErrorBox } from "../../../ui/ErrorBox";
import { reveal } from "../../../ui/hidden";
import { Loading } from "../../../ui/Loading";
import { Status } from "../../../ui/Status";
import { nameOf, type Graph } from "../graph/file";
import { STEPS } from "../text/editor";
import { RUNS } from "../text/runs";
import { visitPlace } from "./progress";
import { runState, stepState, took } from "./states";

/** Two runs step by step; a step that differs shows both sides. */
export function CompareDialog({ a, b, graph, onClose }: { a: string; b: string; graph: Graph; onClose: () => void }) {
  const { data, error } = useOperation("workflow_compare", { run_a: a, run_b: b });
  const [open, setOpen] = useState<string | null>(null);
  return (
    <Dialog title={RUNS.comparison} className="wide" onClose={onClose}>
      <div className="dialog-body">
        {error && <ErrorBox error={error} />}
        {!data && !error && <Loading rows={5} />}
        {data && (
          <>
            {data.inputs.length > 0 && (
              <p className="text-small">
                {RUNS.inputs}: <span className="mono">{data.inputs.join(", ")}</span>
              </p>
            )}
            {data.outputs.length > 0 && (
              <p className="text-small">
                {RUNS.outputs}: <span className="mono">{data.outputs.join(", ")}</span>
              </p>
            )}
            <table className="compare-table">
              <thead>
                <tr>
                  <th scope="col">{STEPS.step}</th>
                  <th scope="col">
                    <RunHead run={data.a} />
                  </th>
                  <th scope="col">
                    <RunHead run={data.b} />
                  </th>
                </tr>
              </thead>
              <tbody>
                {data.steps.map((step) => (
                  <Row
                    key={step.step}
                    {...{ step, graph, a, b }}
                    open={open === step.step}
                    onOpen={() => setOpen(open === step.step ? null : step.step)}
                  />
                ))}
              </tbody>
            </table>
            {data.steps.every((step) => step.a && step.b && step.differences.length === 0) && (
              <p className="secondary space-above-10">{RUNS.same}</p>
            )}
          </>
        )}
      </div>
    </Dialog>
  );
}

function RunHead({ run }: { run: RunSummary }) {
  return (
    <>
      <span className="num">{dayAndTime(run.started)}</span> <Status {...runState(run.state)} />
    </>
  );
}

interface RowProps {
  step: StepComparison;
  graph: Graph;
  a: string;
  b: string;
  open: boolean;
  onOpen: () => void;
}

function Row({ step, graph, a, b, open, onOpen }: RowProps) {
  const { items, visit } = visitPlace(step.step);
  const where = STEPS.place(items, visit);
  const differs = step.differences.map((one) => RUNS.parts[one] ?? one).join(", ");
  return (
    <>
      <tr className={differs || !step.a || !step.b ? "differs" : ""}>
        <th scope="row">
          {reveal(nameOf(graph, step.node))}
          {where && <span className="muted"> · {where}</span>}
          {differs && (
            <p className="text-small">
              <button type="button" className="plain-button link-button" aria-expanded={open} onClick={onOpen}>
                {RUNS.differs(differs)}
              </button>
            </p>
          )}
        </th>
        <td>
          <Side step={step.a} />
        </td>
        <td>
          <Side step={step.b} />
        </td>
      </tr>
      {open && (
        <tr>
          <td colSpan={3}>
            <BothSides {...{ a, b }} step={step.step} />
          </td>
        </tr>
      )}
    </>
  );
}

function Side({ step }: { step: StepShown | null }) {
  if (!step) return <span className="muted">–</span>;
  const time = took(step, Date.now());
  return (
    <>
      <Status {...stepState(step.state)} />{" "}
      <span className="muted num text-small">{time === null ? "" : duration(time)}</span>
    </>
  );
}

function BothSides({ a, b, step }: { a: string; b: string; step: string }) {
  const one = useOperation("workflow_step", { run: a, step });
  const other = useOperation("workflow_step", { run: b, step });
  if (!one.data || !other.data) return <Loading rows={2} />;
  return <Difference before={sideText(one.data)} after={sideText(other.data)} />;
}

function sideText({ state, output, inputs, value, error }: StepTrace): string {
  return JSON.stringify({ state, output, inputs, value, error }, null, 2);
}

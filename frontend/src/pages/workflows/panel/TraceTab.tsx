/** The tab Trace: what happened in a run or in one step (inputs, result, attempts, notes, pictures), and how many
 * steps are listed at first. */

import { useState } from "react";

import { useOperation } from "../../../api/hooks";
import type { RunDecision, RunShown, StepShown, StepTrace } from "../../../api/types";
import { clockSeconds, duration } from "../../../ui/amounts";
import { ErrorBox } from "../../../ui/ErrorBox";
import { reveal } from "../../../ui/hidden";
import { LongText } from "../../../ui/LongText";
import { Loading } from "../../../ui/Loading";
import { Glyph, Status } from "../../../ui/Status";
import { nameOf, type Graph } from "../graph/file";
import { visitPlace } from "../runs/progress";
import { stepState, took } from "../runs/states";
import type { ShownRun } from "../runs/useRun";
import { outputLabel } from "../text/edges";
import { STEPS } from "../text/editor";
import { PANEL } from "../text/panel";
import { decisionText, noteText, RUN, tookText } from "../text/runs";
import { Picture } from "./Picture";

interface Props {
  shown: ShownRun | null;
  graph: Graph;
  id: string | null;
  onGo: (id: string) => void;
}

/** What happened in the run, or in one step of it. */
export function TraceTab({ shown, graph, id, onGo }: Props) {
  if (!shown) return <p className="secondary panel-note">{PANEL.noRun}</p>;
  if (id === null) return <RunTrace run={shown.run} graph={graph} onGo={onGo} />;
  const visits = shown.run.steps.filter((step) => step.node === id);
  const decision = shown.decisions.get(id);
  if (visits.length === 0 && decision) return <DecisionView decision={decision} />;
  if (visits.length === 0)
    return <p className="secondary panel-note">{shown.reached.has(id) ? PANEL.nothingRecorded : PANEL.notReached}</p>;
  const preferred = shown.progress.get(id)?.visit.step ?? "";
  return <StepVisits run={shown.run.run} graph={graph} visits={visits} preferred={preferred} />;
}

/** How a step decided that has no visits of its own, such as an If or a Loop. */
function DecisionView({ decision }: { decision: RunDecision }) {
  const rounds = decision.taken["body"];
  const text = rounds ? `${RUN.rounds(rounds)}.` : decisionText(decision);
  const last = tookText(decision.output, decision.reason);
  return (
    <div className="panel-body">
      <p className="break-anywhere">{reveal(text)}</p>
      {last !== text && <p className="secondary text-small break-anywhere space-above-6">{reveal(PANEL.last(last))}</p>}
    </div>
  );
}

const MOST = 200;

function RunTrace({ run, graph, onGo }: { run: RunShown; graph: Graph; onGo: (id: string) => void }) {
  const [all, setAll] = useState(false);
  const steps = all ? run.steps : run.steps.slice(-MOST);
  return (
    <div className="panel-body">
      {run.error && <Failure error={run.error} />}
      {run.outputs && Object.keys(run.outputs).length > 0 && <Value title={PANEL.outputs} value={run.outputs} />}
      {Object.keys(run.inputs).length > 0 && <Value title={PANEL.given} value={run.inputs} />}
      <h3 className="group-label trace-label">{PANEL.happened}</h3>
      {steps.length < run.steps.length && (
        <p className="muted text-small">
          {PANEL.lastSteps(steps.length, run.steps.length)}{" "}
          <button type="button" className="plain-button link-button" onClick={() => setAll(true)}>
            {PANEL.showAll}
          </button>
        </p>
      )}
      <ol className="trace-events">
        {steps.map((step) => {
          const time = took(step, Date.now());
          const { items, visit } = visitPlace(step.step);
          const where = STEPS.place(items, visit);
          return (
            <li key={step.step}>
              <Glyph shape={stepState(step.state).shape} />
              <button type="button" className="plain-button ellipsis" onClick={() => onGo(step.node)}>
                {reveal(nameOf(graph, step.node))}
                <span className="visually-hidden">, {stepState(step.state).word}</span>
                {where && <span className="muted"> · {where}</span>}
              </button>
              <span className="num muted">{time === null ? "" : duration(time)}</span>
            </li>
          );
        })}
      </ol>
    </div>
  );
}

interface VisitsProps {
  run: string;
  graph: Graph;
  visits: readonly StepShown[];
  preferred: string;
}

function StepVisits({ run, graph, visits, preferred }: VisitsProps) {
  const [chosen, setChosen] = useState<string | null>(null);
  const step = chosen ?? preferred;
  const shown = visits.find((one) => one.step === step) ?? visits.at(-1);
  if (!shown) return null;
  return (
    <div className="panel-body">
      {visits.length > 1 && (
        <div className="row visit-choice">
          <label htmlFor="visit" className="secondary">
            {PANEL.visit}
          </label>
          <select
            id="visit"
            className="field grow"
            value={shown.step}
            onChange={(event) => setChosen(event.target.value)}
          >
            {visits.map((one, index) => {
              const { items, visit } = visitPlace(one.step);
              const where = STEPS.place(items, visit) || String(index + 1);
              return (
                <option key={one.step} value={one.step}>
                  {where} · {stepState(one.state).word}
                </option>
              );
            })}
          </select>
        </div>
      )}
      <Trace key={`${run} ${shown.step}`} run={run} graph={graph} shown={shown} />
    </div>
  );
}

function Trace({ run, graph, shown }: { run: string; graph: Graph; shown: StepShown }) {
  const { data, error } = useOperation("workflow_step", { run, step: shown.step });
  const time = took(shown, Date.now());
  return (
    <>
      <p className="row trace-state">
        <Status {...stepState(shown.state)} />
        <span className="muted num text-small push-end">
          {shown.started ? clockSeconds(shown.started) : ""}
          {time === null ? "" : ` · ${duration(time)}`}
        </span>
      </p>
      {shown.output && outputLabel(shown.output) && (
        <p className="secondary text-small">{PANEL.took(outputLabel(shown.output))}</p>
      )}
      {shown.error && <Failure error={shown.error} />}
      {error && <ErrorBox error={error} />}
      {!data && !error && <Loading rows={3} height={40} />}
      {data && <Details run={run} graph={graph} trace={data} />}
    </>
  );
}

function Details({ run, graph, trace }: { run: string; graph: Graph; trace: StepTrace }) {
  return (
    <>
      {trace.artifacts.map((id, index) => (
        <Picture key={id} run={run} artifact={id} label={PANEL.picture(index + 1)} />
      ))}
      <Value title={PANEL.value} value={trace.value} />
      <Value title={PANEL.inputs} value={trace.inputs} />
      {trace.attempts.length > 1 && (
        <>
          <h3 className="group-label trace-label">{PANEL.attempts}</h3>
          <ol className="trace-events">
            {trace.attempts.map((attempt, index) => (
              <li key={index}>
                <Glyph shape={attempt["error"] ? "fail" : "done"} />
                <span className="break-anywhere">
                  {PANEL.attempt(index + 1)}
                  {attempt["error"] ? `: ${reveal(told(attempt["error"]))}` : ""}
                </span>
                <span />
              </li>
            ))}
          </ol>
        </>
      )}
      {trace.notes.length > 0 && (
        <>
          <h3 className="group-label trace-label">{PANEL.notes}</h3>
          <ol className="trace-notes">
            {trace.notes.map((note, index) => (
              <li key={index} className="break-anywhere">
                {reveal(noteText(note, (id) => nameOf(graph, id)))}
              </li>
            ))}
          </ol>
          <details className="further">
            <summary>{PANEL.json}</summary>
            <LongText text={JSON.stringify(trace.notes, null, 2)} label={PANEL.notes} className="trace-value" />
          </details>
        </>
      )}
    </>
  );
}

function Failure({ error }: { error: { message: string; hint: string } }) {
  return (
    <div className="error-box trace-error">
      <b>{reveal(error.message)}</b> {reveal(error.hint)}
    </div>
  );
}

function Value({ title, value }: { title: string; value: unknown }) {
  if (value === null || value === undefined) return null;
  return (
    <>
      <h3 className="group-label trace-label">{title}</h3>
      <LongText text={told(value)} label={title} className="trace-value" />
    </>
  );
}

function told(value: unknown): string {
  if (typeof value === "string") return value;
  const message = (value as { message?: unknown } | null)?.message;
  if (typeof message === "string" && Object.keys(value as object).length <= 3) return message;
  return JSON.stringify(value, null, 2);
}

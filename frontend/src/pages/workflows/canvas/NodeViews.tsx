/** How steps, groups and their ends are drawn on the canvas: state, time, and the one line under the name (problem,
 * question or setting). */

import { Handle, Position, type NodeProps } from "@xyflow/react";
import { memo } from "react";

import { duration } from "../../../ui/amounts";
import { reveal } from "../../../ui/hidden";
import { Glyph, type Shape } from "../../../ui/Status";
import { hasErrorOutput } from "../graph/kinds";
import { PAD } from "../graph/layout";
import { stepState, took } from "../runs/states";
import { CANVAS, outputLabel } from "../text/edges";
import { IN, outputPlace, type StepData, type StepNode } from "./flow";

export const StepView = memo(function StepView({ data, selected }: NodeProps<StepNode>) {
  const shape = shapeOf(data);
  const time = data.progress ? took(data.progress.visit, Date.now()) : null;
  return (
    <div className={classOf("workflow-node", data, selected)} data-state={data.progress?.visit.state ?? ""}>
      {shape && <Glyph shape={shape} />}
      <span className="node-kind ellipsis">{reveal(data.kind)}</span>
      <span className="node-time num">{time === null ? "" : duration(time)}</span>
      <b className="node-name ellipsis">{reveal(data.name)}</b>
      <span
        className={data.problem || isFailed(data) ? "node-line ellipsis error-text" : "node-line ellipsis"}
        title={lineOf(data)}
      >
        {reveal(lineOf(data))}
      </span>
      {data.breakpoint && <Breakpoint />}
      <Handles data={data} />
    </div>
  );
});

export const GroupView = memo(function GroupView({ data, selected }: NodeProps<StepNode>) {
  const { at_once } = data.step.settings as { at_once?: unknown };
  return (
    <div className={classOf("workflow-group", data, selected)}>
      <div className="workflow-group-head">
        {data.working ? <Glyph shape="work" /> : data.reached ? <Glyph shape={groupShape(data)} /> : null}
        <b className="ellipsis">{reveal(data.name)}</b>
        <span className={data.problem && data.reached === null ? "num ellipsis error-text" : "num ellipsis"}>
          {reveal((data.reached === null && data.problem) || data.line || data.summary || data.kind)}
        </span>
        {typeof at_once === "number" && at_once > 1 && (
          <span className="push-end num nowrap">{CANVAS.atOnce(at_once)}</span>
        )}
        {data.breakpoint && <Breakpoint />}
      </div>
      <Handles data={data} />
    </div>
  );
});

export const EndView = memo(function EndView({ data, selected }: NodeProps<StepNode>) {
  return (
    <div className={classOf("workflow-end", data, selected)}>
      <span className={data.problem ? "ellipsis error-text" : "ellipsis"}>
        {reveal((data.reached === null && data.problem) || data.kind || data.name)}
      </span>
      <Handle type="target" id={IN} position={Position.Top} />
    </div>
  );
});

function Breakpoint() {
  return (
    <span className="node-breakpoint">
      <span className="visually-hidden">{CANVAS.breakpoint}</span>
    </span>
  );
}

function Handles({ data }: { data: StepData }) {
  const { step, outputs } = data;
  return (
    <>
      <Handle type="target" id={IN} position={Position.Top} />
      {outputs.map((output, index) => (
        <Handle
          key={output}
          type="source"
          id={output}
          position={Position.Bottom}
          title={outputLabel(output)}
          className={output === "body" ? "from-body" : ""}
          style={{
            left: `${outputPlace(step, index, outputs.length) * 100}%`,
            ...(output === "body" ? { top: PAD.head - 10 } : {}),
          }}
        />
      ))}
      {hasErrorOutput(step) && (
        <Handle
          type="source"
          id="error"
          position={Position.Right}
          className="from-error"
          title={outputLabel("error")}
        />
      )}
    </>
  );
}

function shapeOf(data: StepData): Shape | null {
  if (data.progress) return stepState(data.progress.visit.state).shape;
  if (data.reached === null) return data.problem ? "fail" : null;
  return data.reached ? "done" : "wait";
}

function groupShape(data: StepData): Shape {
  return data.progress ? stepState(data.progress.visit.state).shape : "done";
}

function isFailed(data: StepData): boolean {
  return data.progress?.visit.state === "failed";
}

function classOf(base: string, data: StepData, selected: boolean): string {
  const state = data.progress?.visit.state;
  return [
    base,
    data.reached === false ? "not-reached" : "",
    state === "running" || state === "retrying" ? "running" : "",
    state === "waiting" || state === "uncertain" ? "asking" : "",
    state === "failed" ? "failed" : "",
    selected ? "selected" : "",
    data.step.enabled ? "" : "turned-off",
  ]
    .filter(Boolean)
    .join(" ");
}

/** The one line under the name: the problem, what came of it in the run, or what it is set to do. */
function lineOf(data: StepData): string {
  if (data.reached !== null) return data.line;
  return data.problem || (data.step.enabled ? data.summary : CANVAS.off);
}

/** How an edge is drawn: its label, taken or not in a run, and the zoom below which it is a plain line. */

import { BaseEdge, EdgeLabelRenderer, getBezierPath, getStraightPath, useStore, type EdgeProps } from "@xyflow/react";
import { memo } from "react";

import { ERROR } from "../graph/file";
import type { StepEdge } from "./flow";
import { lanePath } from "./route";

/** Under this zoom, edges are straight lines without labels. */
const SIMPLE = 0.45;

export const EdgeView = memo(function EdgeView({ data, selected, ...edge }: EdgeProps<StepEdge>) {
  const simple = useStore((state) => state.transform[2] < SIMPLE);
  const ends = { sourceX: edge.sourceX, sourceY: edge.sourceY, targetX: edge.targetX, targetY: edge.targetY };
  const [from, to] = [
    { x: ends.sourceX, y: ends.sourceY },
    { x: ends.targetX, y: ends.targetY },
  ];
  const lane = data?.lane ?? null;
  const [path, x, y] = simple
    ? getStraightPath(ends)
    : lane === null
      ? getBezierPath({ ...ends, sourcePosition: edge.sourcePosition, targetPosition: edge.targetPosition })
      : lanePath(from, to, lane);
  return (
    <>
      <BaseEdge id={edge.id} path={path} className={classOf(data, selected ?? false)} interactionWidth={18} />
      {!simple && data?.label && (
        <EdgeLabelRenderer>
          <span
            className="edge-label"
            title={data.gives}
            style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y}px)` }}
          >
            {data.label}
          </span>
        </EdgeLabelRenderer>
      )}
    </>
  );
});

function classOf(data: StepEdge["data"], selected: boolean): string {
  const kind = data?.output === ERROR ? "error-edge" : "";
  const taken = data?.taken === true ? "taken" : data?.taken === false ? "not-taken" : "";
  return ["workflow-edge", kind, taken, data?.asks && data.taken ? "asking" : "", selected ? "selected" : ""]
    .filter(Boolean)
    .join(" ");
}

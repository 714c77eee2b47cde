/** A workflow as nodes and edges of the canvas: where outputs are on a step, labels of edges, which values a step
 * gives. Pure. */

import { Position, type Edge as FlowEdge, type Node as FlowNode, type NodeHandle } from "@xyflow/react";

import { kindAbove } from "../editor/kinds";
import { ERROR, nameOf, type Edge, type Graph, type Step } from "../graph/file";
import { groupOf, groupsOf, type Groups } from "../graph/groups";
import { closesGroup, hasErrorOutput, opensGroup, outputsOf, type Kinds } from "../graph/kinds";
import { boxOf, frameOf, PAD, sizeOf, type Box } from "../graph/layout";
import { edgeKey, mapProgress, type Progress } from "../runs/progress";
import { runLine } from "../runs/lines";
import type { ShownRun } from "../runs/useRun";
import { laneOf } from "./route";
import { summaryOf } from "../settings/values";
import { CANVAS, outputLabel } from "../text/edges";

export const IN = "in";
const DOT = 9;

export interface StepData extends Record<string, unknown> {
  step: Step;
  name: string;
  kind: string;
  outputs: readonly string[];
  progress: Progress | null;
  /** Null when no run is shown. */
  reached: boolean | null;
  breakpoint: boolean;
  problem: string;
  /** What it says when it has not run. */
  summary: string;
  /** In a run, what came of it; of a group, how far it is. */
  line: string;
  working: boolean;
}

export type StepNode = FlowNode<StepData, "step" | "repeat" | "end">;

export interface EdgeData extends Record<string, unknown> {
  output: string;
  label: string;
  /** Null when no run is shown. */
  taken: boolean | null;
  asks: boolean;
  gives: string;
  /** Where it runs around the steps that are in its way. */
  lane: number | null;
}

export type StepEdge = FlowEdge<EdgeData, "step">;

/** What the canvas shows beside the workflow itself. */
export interface Look {
  kinds: Kinds;
  selected: ReadonlySet<string>;
  breakpoints: ReadonlySet<string>;
  problems: ReadonlyMap<string, string>;
  shown: ShownRun | null;
}

export function flowNodes(graph: Graph, look: Look): StepNode[] {
  const groups = groupsOf(graph);
  const nodes = Object.entries(graph.nodes).map(([id, step]) => nodeOf(graph, groups, look, id, step));
  // Groups lie under what they hold, outer ones first.
  return nodes.sort((one, other) => (one.zIndex ?? 0) - (other.zIndex ?? 0));
}

function nodeOf(graph: Graph, groups: Groups, look: Look, id: string, step: Step): StepNode {
  const group = opensGroup(step);
  const box = group ? frameOf(graph, groups, id) : { ...place(step), ...sizeOf(graph, id) };
  const size = { width: box.width, height: box.height };
  const data = dataOf(graph, look, id, step);
  return {
    id,
    type: group ? "repeat" : closesGroup(step) ? "end" : "step",
    position: { x: box.x, y: box.y },
    ...size,
    measured: size,
    handles: handlesOf(step, data.outputs, size),
    selected: look.selected.has(id),
    zIndex: group ? -100 + depth(groups, id) : 1,
    dragHandle: group ? ".workflow-group-head" : undefined,
    ariaLabel: `${data.name}, ${data.kind}`,
    data,
  } as StepNode;
}

function place(step: Step): { x: number; y: number } {
  return { x: step.position?.[0] ?? 0, y: step.position?.[1] ?? 0 };
}

function depth(groups: Groups, id: string): number {
  let found = 0;
  for (let at = groups.get(id)?.parent ?? null; at !== null; at = groups.get(at)?.parent ?? null) found += 1;
  return found;
}

function dataOf(graph: Graph, look: Look, id: string, step: Step): StepData {
  const { shown } = look;
  const progress = shown?.progress.get(id) ?? null;
  const working = shown && step.type === "Map" ? mapProgress(shown.run.steps, id) : null;
  return {
    step,
    name: nameOf(graph, id),
    kind: kindAbove(step, look.kinds),
    outputs: outputsOf(step, look.kinds),
    progress,
    reached: shown ? shown.reached.has(id) : null,
    breakpoint: look.breakpoints.has(id),
    problem: look.problems.get(id) ?? "",
    summary: summaryOf(step.settings),
    line: working?.working.length ? CANVAS.items(working.working) : shown ? runLine(shown, id, step, true) : "",
    working: working !== null && working.working.length > 0,
  };
}

function handlesOf(step: Step, outputs: readonly string[], size: { width: number; height: number }): NodeHandle[] {
  const dot = { width: DOT, height: DOT };
  const handles: NodeHandle[] = [
    { id: IN, type: "target", position: Position.Top, x: size.width / 2 - DOT / 2, y: -DOT / 2, ...dot },
  ];
  outputs.forEach((output, index) => {
    const x = size.width * outputPlace(step, index, outputs.length) - DOT / 2;
    const y = output === "body" && opensGroup(step) ? PAD.head - 14 : size.height - DOT / 2;
    handles.push({ id: output, type: "source", position: Position.Bottom, x, y, ...dot });
  });
  if (hasErrorOutput(step)) {
    const y = opensGroup(step) ? 12 : size.height / 2 - DOT / 2;
    handles.push({ id: ERROR, type: "source", position: Position.Right, x: size.width - DOT / 2, y, ...dot });
  }
  return handles;
}

/** How far from the left an output is, from 0 to 1. */
export function outputPlace(step: Step, index: number, count: number): number {
  return opensGroup(step) ? 0.5 : (index + 0.5) / count;
}

export function flowEdges(graph: Graph, look: Look, selected: string | null): StepEdge[] {
  const blocks = blocksOf(graph);
  return graph.edges.map((edge): StepEdge => {
    const key = edgeKey(edge);
    return {
      id: key,
      type: "step",
      source: edge.from,
      sourceHandle: edge.output,
      target: edge.to,
      targetHandle: IN,
      selected: key === selected,
      data: {
        output: edge.output,
        label: edgeLabel(graph, edge.from, edge.output),
        taken: look.shown ? look.shown.taken.has(key) : null,
        asks: look.shown?.progress.get(edge.to)?.visit.state === "waiting",
        gives: gives(graph, look.kinds, edge.from),
        lane: laneFor(graph, look, blocks, edge),
      },
    };
  });
}

interface Block {
  box: Box;
  /** The step and the groups that it is in. */
  outer: readonly string[];
}

function blocksOf(graph: Graph): ReadonlyMap<string, Block> {
  const groups = groupsOf(graph);
  const outerOf = (id: string): string[] => {
    const inner = groupOf(groups, id)?.begin;
    return inner === undefined ? [id] : [id, ...outerOf(inner)];
  };
  return new Map(Object.keys(graph.nodes).map((id) => [id, { box: boxOf(graph, groups, id), outer: outerOf(id) }]));
}

function laneFor(graph: Graph, look: Look, blocks: ReadonlyMap<string, Block>, edge: Edge): number | null {
  const { from, output, to } = edge;
  const [source, target, step] = [blocks.get(from), blocks.get(to), graph.nodes[from]];
  const outputs = step ? outputsOf(step, look.kinds) : [];
  if (!source || !target || !step || output === "body" || !outputs.includes(output)) return null;
  const around = new Set([...source.outer, ...target.outer]);
  const others = [...blocks].flatMap(([id, { box, outer }]) =>
    // Neither the groups around both ends nor what is inside an end is in the way.
    around.has(id) || outer.includes(from) || outer.includes(to) ? [] : [box],
  );
  const place = outputPlace(step, outputs.indexOf(output), outputs.length);
  return laneOf(
    { x: source.box.x + source.box.width * place, y: source.box.y + source.box.height },
    { x: target.box.x + target.box.width / 2, y: target.box.y },
    others,
  );
}

/** The ways in and out of a group speak for themselves. */
function edgeLabel(graph: Graph, from: string, output: string): string {
  return opensGroup(graph.nodes[from]) && output !== ERROR ? "" : outputLabel(output);
}

/** The fields that later steps may refer to. */
function gives(graph: Graph, kinds: Kinds, id: string): string {
  const kind = kinds.get(graph.nodes[id]?.type ?? "");
  const fields = Object.entries((kind?.result["properties"] ?? {}) as Record<string, { type?: string }>);
  if (fields.length === 0) return CANVAS.givesNothing;
  return CANVAS.gives(fields.map(([name, field]) => (field.type ? `${name} (${field.type})` : name)).join(", "));
}

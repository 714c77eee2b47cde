/** How far a run has come, for each step of the canvas and each edge: which visit of a step is shown, items of a map,
 * edges taken. Pure. */

import type { StepQuestion, StepShown } from "../../../api/types";
import { ERROR, type Edge, type Graph } from "../graph/file";
import { edgesFrom, edgesTo } from "../graph/groups";
import { closesGroup, opensGroup } from "../graph/kinds";

/** A step as the canvas and the list show it during a run. */
export interface Progress {
  /** The visit that matters most: one that waits, else the newest that is not over, else the newest. */
  visit: StepShown;
  visits: number;
  question: StepQuestion | null;
}

const URGENT: readonly StepShown["state"][] = ["waiting", "uncertain", "failed", "retrying", "running"];

/** By the id of the step. */
export function progressOf(
  steps: readonly StepShown[],
  questions: readonly StepQuestion[],
): ReadonlyMap<string, Progress> {
  const found = new Map<string, Progress>();
  for (const visit of steps) {
    const before = found.get(visit.node);
    const question = questions.find((one) => askingStep(steps, one.step) === visit) ?? null;
    found.set(visit.node, {
      visit: before ? moreUrgent(before.visit, visit) : visit,
      visits: (before?.visits ?? 0) + 1,
      question: question ?? before?.question ?? null,
    });
  }
  return found;
}

/** The visit that a question belongs to: one of this run, or the one of the sub-workflow that asks. */
export function askingStep(steps: readonly StepShown[], step: string): StepShown | undefined {
  const exact = steps.find((one) => one.step === step);
  return exact ?? steps.find((one) => step.startsWith(`${one.step}/`) || step.startsWith(`${one.step}~`));
}

function moreUrgent(before: StepShown, after: StepShown): StepShown {
  const rank = (one: StepShown) =>
    URGENT.includes(one.state) && one.state !== "failed" ? URGENT.indexOf(one.state) : 99;
  return rank(before) < rank(after) ? before : after;
}

/** The place of a visit in words: the item of a map and the number of the visit. `pages[3]/read#2` is item 4, visit 2. */
export function visitPlace(step: string): { items: number[]; visit: number } {
  const items = [...step.matchAll(/\[(\d+)\]/g)].map(([, index]) => Number(index) + 1);
  const visit = Number(/#(\d+)$/.exec(step)?.[1] ?? 1);
  return { items, visit };
}

/** The items of a map that began and that ended, from the visits of the steps inside it. */
export function mapProgress(steps: readonly StepShown[], map: string): { begun: number; working: number[] } {
  const working = new Map<number, boolean>();
  const item = new RegExp(`(?:^|/)${map}\\[(\\d+)\\]/`);
  for (const step of steps) {
    const index = item.exec(step.step)?.[1];
    if (index === undefined) continue;
    const active = step.state === "running" || step.state === "waiting" || step.state === "retrying";
    working.set(Number(index), (working.get(Number(index)) ?? false) || active);
  }
  return {
    begun: working.size,
    working: [...working].filter(([, active]) => active).map(([index]) => index + 1),
  };
}

/** Steps that the run has come to; control steps are not recorded and follow from what came after them. */
export function reachedIn(graph: Graph, steps: readonly StepShown[]): ReadonlySet<string> {
  const reached = new Set(steps.map((step) => step.node));
  const to = edgesTo(graph);
  const waiting = [...reached];
  while (waiting.length > 0) {
    const id = waiting.pop() as string;
    for (const edge of to.get(id) ?? []) {
      if (!isControl(graph, edge.from) || reached.has(edge.from)) continue;
      reached.add(edge.from);
      waiting.push(edge.from);
    }
  }
  return reached;
}

function isControl(graph: Graph, id: string): boolean {
  const step = graph.nodes[id];
  return step?.type === "If" || step?.type === "Switch" || opensGroup(step) || closesGroup(step);
}

/** The edges that the run took, as `from output`. */
export function edgesTaken(graph: Graph, steps: readonly StepShown[]): ReadonlySet<string> {
  const reached = reachedIn(graph, steps);
  const recorded = new Map<string, Set<string>>();
  for (const step of steps) {
    const output = step.state === "failed" ? ERROR : step.output;
    if (output) recorded.set(step.node, new Set([...(recorded.get(step.node) ?? []), output]));
  }
  const to = edgesTo(graph);
  const taken = new Set<string>();
  for (const [id, edges] of edgesFrom(graph)) {
    if (!reached.has(id)) continue;
    const outputs = recorded.get(id);
    const entered = (edge: Edge) => edge.output === "body" && reached.has(edge.to);
    const found = outputs
      ? edges.filter((edge) => outputs.has(edge.output) || entered(edge))
      : likely(edges, reached, to);
    for (const edge of found) if (reached.has(edge.to) || outputs) taken.add(edgeKey(edge));
  }
  return taken;
}

/** Of a step whose decision is not recorded: where the run came to, unless it came there another way. */
function likely(edges: readonly Edge[], reached: ReadonlySet<string>, to: Map<string, Edge[]>): readonly Edge[] {
  const came = edges.filter((edge) => reached.has(edge.to));
  if (came.length < 2) return came;
  const only = came.filter((edge) =>
    (to.get(edge.to) ?? []).every((one) => one.from === edge.from || !reached.has(one.from)),
  );
  return only.length > 0 ? only : came;
}

export function edgeKey(edge: { from: string; output: string }): string {
  return `${edge.from} ${edge.output}`;
}

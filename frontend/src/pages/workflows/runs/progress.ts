/** How far a run has come, for each step of the canvas and each edge: which visit of a step is shown, items of a map,
 * edges taken. Pure. */

import type { RunShown, StepQuestion, StepShown } from "../../../api/types";
import { ERROR, type Edge, type Graph } from "../graph/file";
import { closesGroup } from "../graph/kinds";

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

/** The way of a run through the workflow. */
export interface Way {
  /** Steps that it has come to. */
  reached: ReadonlySet<string>;
  /** Edges that it took, as `from output`. */
  taken: ReadonlySet<string>;
}

export function wayOf(graph: Graph, { steps, decisions }: Pick<RunShown, "steps" | "decisions">): Way {
  const outputs = new Map<string, Set<string>>();
  const leave = (id: string, output: string) => outputs.set(id, new Set([...(outputs.get(id) ?? []), output]));
  for (const step of steps) if (step.state === "failed" || step.output) leave(step.node, outputOf(step));
  for (const one of decisions) for (const output of Object.keys(one.taken)) leave(one.node, output);
  const reached = new Set([...steps, ...decisions].map((one) => one.node));
  const took = (edge: Edge) =>
    outputs.get(edge.from)?.has(edge.output) ||
    (edge.output === "body" && reached.has(edge.from) && reached.has(edge.to));
  const taken = graph.edges.filter(took);
  for (const edge of taken) if (closesGroup(graph.nodes[edge.to])) reached.add(edge.to);
  return { reached, taken: new Set(taken.map(edgeKey)) };
}

function outputOf(step: StepShown): string {
  return step.state === "failed" ? ERROR : (step.output ?? "");
}

export function edgeKey(edge: { from: string; output: string }): string {
  return `${edge.from} ${edge.output}`;
}

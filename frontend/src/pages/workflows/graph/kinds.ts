/** What the editor knows about the types of steps: their outputs, and which open and close a group. Pure. */

import { ERROR, NEXT, type Graph, type Step } from "./file";

export type KindGroup = "desktop" | "tools" | "ai" | "control" | "user" | "data";

/** A type of step as the host describes it. */
export interface Kind {
  name: string;
  title: string;
  group: KindGroup;
  about: string;
  /** JSON Schemas. */
  settings: Record<string, unknown>;
  result: Record<string, unknown>;
  outputs: readonly string[];
}

export type Kinds = ReadonlyMap<string, Kind>;

export interface Pair {
  end: string;
  /** The setting of the end that names its beginning. */
  key: string;
}

/** Types that repeat what is between them and their end. */
export const PAIRS: Readonly<Record<string, Pair>> = {
  Loop: { end: "EndLoop", key: "loop" },
  Map: { end: "EndMap", key: "map" },
};

const ENDS = new Map(Object.entries(PAIRS).map(([begin, pair]) => [pair.end, { begin, key: pair.key }]));

export function opensGroup(step: Step | undefined): boolean {
  return step !== undefined && step.type in PAIRS;
}

export function closesGroup(step: Step | undefined): boolean {
  return step !== undefined && ENDS.has(step.type);
}

/** Of the end of a group, the id of its beginning. */
export function beginningOf(step: Step): string | null {
  const end = ENDS.get(step.type);
  const begin = end ? step.settings[end.key] : null;
  return typeof begin === "string" ? begin : null;
}

export function endOf(graph: Graph, begin: string): string | null {
  const found = Object.entries(graph.nodes).find(([, step]) => beginningOf(step) === begin);
  return found ? found[0] : null;
}

/** The names of a step's outputs, without `error`. */
export function outputsOf(step: Step, kinds: Kinds): readonly string[] {
  if (closesGroup(step)) return [];
  if (step.type in PAIRS) return ["body", "done"];
  if (step.type === "If") return ["true", "false"];
  if (step.type === "Switch") return [...caseNames(step), "default"];
  return kinds.get(step.type)?.outputs ?? [NEXT];
}

/** The output that leads on when nothing special happens. */
export function mainOutput(step: Step, kinds: Kinds): string | null {
  const outputs = outputsOf(step, kinds);
  if (step.type in PAIRS) return "done";
  return outputs[0] ?? null;
}

/** Whether the step can fail by itself. The walk decides control steps without a step of their own. */
export function hasErrorOutput(step: Step): boolean {
  return !closesGroup(step);
}

export function isError(output: string): boolean {
  return output === ERROR;
}

function caseNames(step: Step): string[] {
  const cases = step.settings["cases"];
  if (!Array.isArray(cases)) return [];
  return cases.map((one) => String((one as { name?: unknown } | null)?.name ?? "")).filter(Boolean);
}

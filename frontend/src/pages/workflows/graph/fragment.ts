/** Steps that are copied, pasted and duplicated, within a workflow or from one to another: their new ids, references
 * and places. Pure. */

import { freeId } from "./commands";
import type { Edge, Graph, Point, Step } from "./file";
import { beginningOf, endOf, PAIRS } from "./kinds";
import { renamed } from "./references";

export interface Fragment {
  toolcrib: "steps";
  nodes: Record<string, Step>;
  edges: Edge[];
}

const OFFSET = 32;

/** These steps and the edges among them; a loop or map brings its end along. */
export function copySteps(graph: Graph, ids: Iterable<string>): Fragment {
  const chosen = new Set<string>();
  for (const id of ids) {
    const step = graph.nodes[id];
    if (!step) continue;
    const begin = beginningOf(step);
    if (begin !== null && ![...ids].includes(begin)) continue;
    chosen.add(id);
    const end = step.type in PAIRS ? endOf(graph, id) : null;
    if (end !== null) chosen.add(end);
  }
  return {
    toolcrib: "steps",
    nodes: Object.fromEntries([...chosen].map((id) => [id, graph.nodes[id] as Step])),
    edges: graph.edges.filter((edge) => chosen.has(edge.from) && chosen.has(edge.to)),
  };
}

/** The fragment in a text from the clipboard, or null. */
export function readFragment(text: string): Fragment | null {
  try {
    const value = JSON.parse(text) as Partial<Fragment> | null;
    const whole = value?.toolcrib === "steps" && value.nodes && Array.isArray(value.edges);
    return whole ? (value as Fragment) : null;
  } catch {
    return null;
  }
}

export interface Pasted {
  graph: Graph;
  ids: string[];
}

/** Add the steps under free ids; references among them follow. */
export function pasteSteps(graph: Graph, fragment: Fragment): Pasted {
  const names = new Map<string, string>();
  let next = graph;
  for (const [id, step] of Object.entries(fragment.nodes)) {
    const free = id in next.nodes ? freeId(next, step.type) : id;
    names.set(id, free);
    next = { ...next, nodes: { ...next.nodes, [free]: { ...step, position: moved(step.position) } } };
  }
  const nodes = { ...next.nodes };
  for (const free of names.values()) nodes[free] = relinked(nodes[free] as Step, names);
  const edges = fragment.edges.map((edge) => ({
    ...edge,
    from: names.get(edge.from) ?? edge.from,
    to: names.get(edge.to) ?? edge.to,
  }));
  return { graph: { ...next, nodes, edges: [...next.edges, ...edges] }, ids: [...names.values()] };
}

function moved(at: Point | null): Point | null {
  return at ? [at[0] + OFFSET, at[1] + OFFSET] : null;
}

function relinked(step: Step, names: ReadonlyMap<string, string>): Step {
  // Through names that no step has, so that two that changed places are not confused.
  let settings = step.settings;
  for (const id of names.keys()) settings = renamed(settings, id, `${id}__pasted`);
  for (const [id, free] of names) settings = renamed(settings, `${id}__pasted`, free);
  const pair = Object.values(PAIRS).find((one) => one.end === step.type);
  const begin = pair ? settings[pair.key] : null;
  if (!pair || typeof begin !== "string") return { ...step, settings };
  return { ...step, settings: { ...settings, [pair.key]: names.get(begin) ?? begin } };
}

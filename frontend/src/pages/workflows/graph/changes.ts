/** What differs between two workflows, for a draft of the planner, an older version or a conflict. Pure. */

import { fileOf, type Edge, type Graph } from "./file";

export interface Changes {
  added: string[];
  removed: string[];
  /** Steps that stay but have other settings. */
  changed: string[];
  edges: { added: Edge[]; removed: Edge[] };
  /** Parts of the workflow itself, such as `inputs`. */
  parts: string[];
}

const PARTS = ["description", "inputs", "outputs", "checks", "options", "triggers"] as const;

export function changesBetween(before: Graph, after: Graph): Changes {
  const key = (edge: Edge) => `${edge.from} ${edge.output} ${edge.to}`;
  const [old, fresh] = [new Set(before.edges.map(key)), new Set(after.edges.map(key))];
  return {
    added: Object.keys(after.nodes).filter((id) => !before.nodes[id]),
    removed: Object.keys(before.nodes).filter((id) => !after.nodes[id]),
    changed: Object.keys(after.nodes).filter((id) => before.nodes[id] && stepText(before, id) !== stepText(after, id)),
    edges: {
      added: after.edges.filter((edge) => !old.has(key(edge))),
      removed: before.edges.filter((edge) => !fresh.has(key(edge))),
    },
    parts: PARTS.filter((part) => JSON.stringify(before[part]) !== JSON.stringify(after[part])),
  };
}

export function isEmpty(changes: Changes): boolean {
  const { added, removed, changed, edges, parts } = changes;
  return [added, removed, changed, edges.added, edges.removed, parts].every((one) => one.length === 0);
}

/** A step as lines to compare; where it is drawn does not matter. */
export function stepText(graph: Graph, id: string): string {
  const step = graph.nodes[id];
  if (!step) return "";
  const { position: _place, ...rest } = step;
  return JSON.stringify(sorted(rest), null, 2);
}

/** Whether two workflows are the same file. */
export function sameFile(one: Graph, other: Graph): boolean {
  return one === other || JSON.stringify(sorted(fileOf(one))) === JSON.stringify(sorted(fileOf(other)));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value as Record<string, unknown>).sort(([a], [b]) => a.localeCompare(b));
  return Object.fromEntries(entries.map(([name, one]) => [name, sorted(one)]));
}

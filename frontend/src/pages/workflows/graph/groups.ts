/** Which steps a loop or a map repeats. Pure. */

import { isError, endOf, opensGroup } from "./kinds";
import type { Edge, Graph } from "./file";

export interface Group {
  /** The id of the loop or map. */
  begin: string;
  end: string | null;
  /** Everything inside, with the end and with inner groups. */
  members: ReadonlySet<string>;
  /** The group around it. */
  parent: string | null;
}

export type Groups = ReadonlyMap<string, Group>;

export function edgesFrom(graph: Graph): Map<string, Edge[]> {
  return grouped(graph.edges, (edge) => edge.from);
}

export function edgesTo(graph: Graph): Map<string, Edge[]> {
  return grouped(graph.edges, (edge) => edge.to);
}

export function groupsOf(graph: Graph): Groups {
  const from = edgesFrom(graph);
  const bodies = new Map<string, { end: string | null; members: Set<string> }>();
  for (const [id, step] of Object.entries(graph.nodes)) {
    if (!opensGroup(step)) continue;
    const end = endOf(graph, id);
    bodies.set(id, { end, members: bodyOf(graph, from, id, end) });
  }
  const groups = new Map<string, Group>();
  for (const [begin, { end, members }] of bodies) {
    groups.set(begin, { begin, end, members, parent: innermost(bodies, begin) });
  }
  return groups;
}

/** The innermost group that a step is in. */
export function groupOf(groups: Groups, id: string): Group | null {
  let found: Group | null = null;
  for (const group of groups.values()) {
    if (group.members.has(id) && (found === null || group.members.size < found.members.size)) found = group;
  }
  return found;
}

function innermost(bodies: ReadonlyMap<string, { members: ReadonlySet<string> }>, id: string): string | null {
  let found: string | null = null;
  for (const [begin, { members }] of bodies) {
    const smaller = found === null || members.size < (bodies.get(found)?.members.size ?? Infinity);
    if (begin !== id && members.has(id) && smaller) found = begin;
  }
  return found;
}

/** What is reached from the body's output before the end; a path that only an error takes belongs to it if it leads
 *  to the end. */
function bodyOf(graph: Graph, from: Map<string, Edge[]>, begin: string, end: string | null): Set<string> {
  const members = new Set<string>(end === null ? [] : [end]);
  const first = (from.get(begin) ?? []).filter((edge) => edge.output === "body");
  const waiting = first.map((edge) => edge.to);
  while (waiting.length > 0) {
    const id = waiting.pop() as string;
    if (members.has(id) || id === begin || !graph.nodes[id]) continue;
    members.add(id);
    for (const edge of from.get(id) ?? []) {
      if (!isError(edge.output) || (end !== null && reaches(from, edge.to, end))) waiting.push(edge.to);
    }
  }
  return members;
}

/** Whether one step leads to another. */
export function reaches(from: Map<string, Edge[]>, start: string, goal: string): boolean {
  const seen = new Set<string>();
  const waiting = [start];
  while (waiting.length > 0) {
    const id = waiting.pop() as string;
    if (id === goal) return true;
    if (seen.has(id)) continue;
    seen.add(id);
    for (const edge of from.get(id) ?? []) waiting.push(edge.to);
  }
  return false;
}

function grouped(edges: readonly Edge[], key: (edge: Edge) => string): Map<string, Edge[]> {
  const found = new Map<string, Edge[]>();
  for (const edge of edges) found.set(key(edge), [...(found.get(key(edge)) ?? []), edge]);
  return found;
}

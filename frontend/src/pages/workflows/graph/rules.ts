/** Why two steps may not be connected, in words; empty if they may. Pure. */

import { nameOf, type Edge, type Graph } from "./file";
import { edgesFrom, groupOf, groupsOf, reaches } from "./groups";
import { closesGroup, hasErrorOutput, isError, outputsOf, type Kinds } from "./kinds";
import { REFUSED } from "../text/edges";

export function refusal(graph: Graph, kinds: Kinds, edge: Edge): string {
  const source = graph.nodes[edge.from];
  const target = graph.nodes[edge.to];
  if (!source || !target) return REFUSED.gone;
  if (edge.from === edge.to) return REFUSED.itself;
  if (closesGroup(source)) return REFUSED.fromEnd(nameOf(graph, edge.from));
  const known = isError(edge.output) ? hasErrorOutput(source) : outputsOf(source, kinds).includes(edge.output);
  if (!known) return REFUSED.noOutput(nameOf(graph, edge.from), edge.output);
  if (graph.edges.some((one) => same(one, edge))) return REFUSED.already;
  const rest = { ...graph, edges: graph.edges.filter((one) => !sameOutput(one, edge)) };
  if (reaches(edgesFrom(rest), edge.to, edge.from))
    return REFUSED.circle(nameOf(graph, edge.to), nameOf(graph, edge.from));
  return crossing(rest, edge);
}

/** The body of a loop or map has one way in, its own output, and one way out, its end. */
function crossing(graph: Graph, edge: Edge): string {
  const groups = groupsOf(graph);
  const inside = groupOf(groups, edge.to);
  const here = edge.output === "body" ? (groups.get(edge.from) ?? null) : groupOf(groups, edge.from);
  if (here === inside || (inside === null && isLoose(graph, edge.to))) return "";
  const leaves = here !== null && (inside === null || inside.members.has(here.begin));
  if (!leaves) return REFUSED.into(nameOf(graph, edge.to), inside ? nameOf(graph, inside.begin) : "");
  if (isError(edge.output) && graph.nodes[here.begin]?.type === "Loop") return "";
  return REFUSED.outOf(nameOf(graph, here.begin), here.end === null ? "" : nameOf(graph, here.end));
}

/** Whether nothing leads to a step yet, so that it may still belong anywhere. */
function isLoose(graph: Graph, id: string): boolean {
  return !graph.edges.some((edge) => edge.to === id);
}

export function sameOutput(one: Edge, other: Edge): boolean {
  return one.from === other.from && one.output === other.output;
}

function same(one: Edge, other: Edge): boolean {
  return sameOutput(one, other) && one.to === other.to;
}

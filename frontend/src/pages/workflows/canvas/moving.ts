/** Where steps are while they are dragged (a group takes along what it holds), and which step an arrow key leads to.
 * Pure. */

import type { Graph, Point } from "../graph/file";
import { groupsOf } from "../graph/groups";
import { frameOf } from "../graph/layout";
import { opensGroup } from "../graph/kinds";

export interface Move {
  id: string;
  x: number;
  y: number;
}

/** The places of all steps that move, from the moves of nodes on the canvas. */
export function placesAfter(graph: Graph, moves: readonly Move[]): Map<string, Point> {
  const groups = groupsOf(graph);
  const places = new Map<string, Point>();
  for (const move of moves.filter((one) => opensGroup(graph.nodes[one.id]))) {
    const frame = frameOf(graph, groups, move.id);
    for (const id of [move.id, ...(groups.get(move.id)?.members ?? [])]) {
      const [x, y] = graph.nodes[id]?.position ?? [0, 0];
      places.set(id, [x + move.x - frame.x, y + move.y - frame.y]);
    }
  }
  for (const move of moves) if (!opensGroup(graph.nodes[move.id])) places.set(move.id, [move.x, move.y]);
  return places;
}

/** The step that an arrow key leads to: along the edges up and down, and to a neighbour of the same layer. */
export function neighbour(graph: Graph, id: string, key: string): string | null {
  const [x, y] = graph.nodes[id]?.position ?? [0, 0];
  const near = (ids: readonly string[]) =>
    [...ids].sort((one, other) => distance(graph, one, x, y) - distance(graph, other, x, y))[0] ?? null;
  if (key === "ArrowDown") return near(graph.edges.filter((edge) => edge.from === id).map((edge) => edge.to));
  if (key === "ArrowUp") return near(graph.edges.filter((edge) => edge.to === id).map((edge) => edge.from));
  const side = key === "ArrowLeft" ? -1 : 1;
  return near(
    Object.entries(graph.nodes)
      .filter(([other, step]) => other !== id && step.position && (step.position[0] - x) * side > 0)
      .filter(([, step]) => Math.abs((step.position?.[1] ?? 0) - y) < 120)
      .map(([other]) => other),
  );
}

function distance(graph: Graph, id: string, x: number, y: number): number {
  const [px, py] = graph.nodes[id]?.position ?? [0, 0];
  return Math.hypot(px - x, py - y);
}

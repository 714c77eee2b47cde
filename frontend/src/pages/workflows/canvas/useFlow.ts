/** Nodes and edges for the canvas; what did not change stays the same object, so that it is not drawn again. */

import { useMemo, useRef } from "react";

import type { Graph } from "../graph/file";
import { flowEdges, flowNodes, type Look, type StepEdge, type StepNode } from "./flow";

export function useFlow(
  graph: Graph,
  look: Look,
  selectedEdge: string | null,
): { nodes: StepNode[]; edges: StepEdge[] } {
  const nodes = useStable(useMemo(() => flowNodes(graph, look), [graph, look]));
  const edges = useStable(useMemo(() => flowEdges(graph, look, selectedEdge), [graph, look, selectedEdge]));
  return { nodes, edges };
}

/** The same items, each as the object it was before if it is equal. */
function useStable<T extends { id: string }>(items: T[]): T[] {
  const known = useRef(new Map<string, { item: T; text: string }>());
  return useMemo(() => {
    const next = new Map<string, { item: T; text: string }>();
    for (const item of items) {
      const text = JSON.stringify(item);
      const before = known.current.get(item.id);
      next.set(item.id, before?.text === text ? before : { item, text });
    }
    known.current = next;
    return items.map((item) => next.get(item.id)?.item ?? item);
  }, [items]);
}

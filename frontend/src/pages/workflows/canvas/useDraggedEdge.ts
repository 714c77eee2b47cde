/** Dragging a new edge: why it would be refused is shown while the pointer is over the step, and how long that stays.
 * Rules are in `graph/rules.ts`, fitting types are checked by the host. */

import type { Connection, OnConnectEnd } from "@xyflow/react";
import { useCallback, useEffect, useRef, useState } from "react";

import { findMisfit, knownMisfit } from "../editor/edgeTypes";
import type { Edit } from "../editor/state";
import { connect } from "../graph/commands";
import type { Edge, Graph } from "../graph/file";
import type { Kinds } from "../graph/kinds";
import { refusal } from "../graph/rules";

const HIDE_REASON = 6_000;

interface Start {
  nodeId: string | null;
  handleId: string | null;
  handleType: string | null;
}

export function useDraggedEdge(graph: Graph, kinds: Kinds, onChange: (edit: Edit) => void) {
  const [reason, setReason] = useState("");
  const from = useRef<{ id: string; output: string } | null>(null);
  const over = useRef<string | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);

  const say = useCallback((text: string) => {
    clearTimeout(timer.current);
    setReason(text);
    if (text) timer.current = setTimeout(() => setReason(""), HIDE_REASON);
  }, []);

  const edgeTo = (target: string | null): Edge | null =>
    from.current && target !== null ? { from: from.current.id, output: from.current.output, to: target } : null;

  /** The reason that is known now; the types are asked for, and their reason follows while the pointer stays. */
  const look = (edge: Edge) => {
    const why = refusal(graph, kinds, edge);
    say(why || (knownMisfit(graph, edge) ?? ""));
    if (why) return;
    void findMisfit(graph, edge).then((misfit) => {
      if (misfit && from.current && over.current === edge.to) say(misfit);
    });
  };

  const drop = async (edge: Edge) => {
    const why = refusal(graph, kinds, edge) || (await findMisfit(graph, edge));
    say(why);
    // The workflow may have changed while the host was asked.
    if (!why) onChange((now) => (refusal(now, kinds, edge) ? now : connect(now, edge)));
  };

  const end: OnConnectEnd = (event) => {
    const edge = edgeTo(nodeUnder(event));
    from.current = over.current = null;
    if (edge) void drop(edge);
    else say("");
  };

  return {
    reason,
    start: (_: unknown, { nodeId, handleId, handleType }: Start) => {
      from.current = nodeId && handleType === "source" ? { id: nodeId, output: handleId ?? "next" } : null;
    },
    over: (event: { clientX: number; clientY: number }) => {
      if (!from.current) return;
      const target = nodeAt(event.clientX, event.clientY);
      if (target === over.current) return;
      over.current = target;
      const edge = edgeTo(target);
      if (edge) look(edge);
      else say("");
    },
    end,
    allowed: (connection: Connection | { source: string; target: string; sourceHandle?: string | null }) => {
      const edge = { from: connection.source, output: connection.sourceHandle ?? "next", to: connection.target };
      return !refusal(graph, kinds, edge) && !knownMisfit(graph, edge);
    },
  };
}

function nodeUnder(event: MouseEvent | TouchEvent): string | null {
  const point = "changedTouches" in event ? event.changedTouches[0] : event;
  return point ? nodeAt(point.clientX, point.clientY) : null;
}

/** The step under the pointer; groups count only where nothing lies on them. */
function nodeAt(x: number, y: number): string | null {
  const found = document.elementsFromPoint(x, y).map((one) => one.closest<HTMLElement>(".react-flow__node"));
  return found.find((one) => one !== null)?.dataset["id"] ?? null;
}

/** The canvas of the editor: selecting, dragging, dropping steps, arrow keys, zoom limits, and from how many steps
 * only those in view are drawn. */

import {
  Background,
  BackgroundVariant,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
  type NodeChange,
  type NodeSelectionChange,
} from "@xyflow/react";
import { useCallback, useEffect, useMemo, useRef, useState, type DragEvent, type KeyboardEvent } from "react";

import { MenuAt, type MenuEntry } from "../../../ui/Menu";
import { disconnect, moveSteps } from "../graph/commands";
import type { Graph, Point } from "../graph/file";
import { DRAGGED_KIND } from "../editor/dragging";
import type { Choice, Edit } from "../editor/state";
import { CANVAS } from "../text/edges";
import "./canvas.css";
import { EdgeView } from "./EdgeView";
import type { Look, StepNode } from "./flow";
import { neighbour, placesAfter } from "./moving";
import { EndView, GroupView, StepView } from "./NodeViews";
import { useDraggedEdge } from "./useDraggedEdge";
import { useFlow } from "./useFlow";
import { Zoom } from "./Zoom";

const NODE_TYPES = { step: StepView, repeat: GroupView, end: EndView };
const EDGE_TYPES = { step: EdgeView };
/** More steps than this are drawn only where the window is. */
const MANY = 120;

export interface CanvasProps {
  graph: Graph;
  look: Look;
  /** A run of another version is shown: nothing can be changed. */
  frozen: boolean;
  onChange: (edit: Edit) => void;
  onSelect: (choose: Choice) => void;
  onOpen: (id: string) => void;
  onAdd: (type: string, at: Point) => void;
  /** What the menu of a step offers; none in a run of another version. */
  entriesOf: (id: string) => readonly MenuEntry[];
  /** The step whose place is to be shown, and a number that changes with each request. */
  wanted: { id: string; turn: number } | null;
}

export default function Canvas(props: CanvasProps) {
  return (
    <ReactFlowProvider>
      <Flow {...props} />
    </ReactFlowProvider>
  );
}

function Flow({ graph, look, frozen, onChange, onSelect, onOpen, onAdd, entriesOf, wanted }: CanvasProps) {
  const flow = useReactFlow();
  const [moved, setMoved] = useState<ReadonlyMap<string, Point>>(new Map());
  const [edge, setEdge] = useState<string | null>(null);
  const [menu, setMenu] = useState<{ id: string; x: number; y: number } | null>(null);
  const shown = useMemo(() => (moved.size > 0 ? moveSteps(graph, moved) : graph), [graph, moved]);
  const { nodes, edges } = useFlow(shown, look, edge);
  const dragging = useDraggedEdge(graph, look.kinds, onChange);
  useWanted(wanted, graph);

  const change = useCallback(
    (changes: NodeChange<StepNode>[]) => {
      const selections = changes.filter((one) => one.type === "select");
      if (selections.length > 0) onSelect((selected) => selectedAfter(selected, selections));
      const moves = [];
      let ended = false;
      for (const one of changes) {
        if (one.type !== "position" || !one.position) continue;
        moves.push({ id: one.id, ...one.position });
        ended ||= one.dragging === false;
      }
      if (moves.length === 0) return;
      const places = placesAfter(graph, moves);
      setMoved(ended ? new Map() : places);
      if (ended) onChange((now) => moveSteps(now, places));
    },
    [graph, onChange, onSelect],
  );

  function openMenu(id: string, at?: { x: number; y: number }) {
    const node = document.querySelector(`.react-flow__node[data-id="${id}"]`)?.getBoundingClientRect();
    const place = at ?? (node && { x: node.left + 12, y: node.top + 40 });
    if (frozen || !place) return;
    onSelect([id]);
    setMenu({ id, ...place });
  }

  function press(event: KeyboardEvent) {
    const [only] = look.selected;
    if (event.key === "." && only !== undefined) return openMenu(only);
    if (!event.key.startsWith("Arrow") && event.key !== "Enter") {
      if ((event.key === "Delete" || event.key === "Backspace") && edge !== null && !frozen) removeEdge(event);
      return;
    }
    const [id] = look.selected;
    if (id === undefined) return;
    event.preventDefault();
    if (event.key === "Enter") return onOpen(id);
    const next = neighbour(graph, id, event.key);
    if (next === null) return;
    onSelect([next]);
    document.querySelector<HTMLElement>(`.react-flow__node[data-id="${next}"]`)?.focus({ preventScroll: true });
    bringIntoView(flow, next);
  }

  function removeEdge(event: KeyboardEvent) {
    const chosen = graph.edges.find((one) => `${one.from} ${one.output}` === edge);
    if (!chosen) return;
    event.preventDefault();
    event.stopPropagation();
    setEdge(null);
    onChange((now) => disconnect(now, chosen));
  }

  function drop(event: DragEvent) {
    const type = event.dataTransfer.getData(DRAGGED_KIND);
    if (!type || frozen) return;
    event.preventDefault();
    const at = flow.screenToFlowPosition({ x: event.clientX - 112, y: event.clientY - 36 });
    onAdd(type, [Math.round(at.x), Math.round(at.y)]);
  }

  return (
    <div
      className="workflow-canvas"
      role="application"
      aria-label={CANVAS.label(nodes.length)}
      onKeyDown={press}
      onDragOver={(event) => event.preventDefault()}
      onDrop={drop}
      onPointerMove={dragging.over}
    >
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        edgeTypes={EDGE_TYPES}
        onNodesChange={change}
        onNodeContextMenu={(event, node) => {
          event.preventDefault();
          openMenu(node.id, { x: event.clientX, y: event.clientY });
        }}
        onNodeDoubleClick={(_, node) => onOpen(node.id)}
        onEdgeClick={(_, one) => setEdge(one.id)}
        onPaneClick={() => setEdge(null)}
        onConnectStart={dragging.start}
        onConnectEnd={dragging.end}
        isValidConnection={dragging.allowed}
        nodesDraggable={!frozen}
        nodesConnectable={!frozen}
        edgesFocusable={false}
        elevateNodesOnSelect={false}
        connectionRadius={28}
        minZoom={0.08}
        maxZoom={1.6}
        fitView
        fitViewOptions={FIT}
        deleteKeyCode={null}
        disableKeyboardA11y
        onlyRenderVisibleElements={nodes.length > MANY}
        proOptions={{ hideAttribution: true }}
      >
        <Background variant={BackgroundVariant.Dots} gap={24} size={1.4} color="var(--line-2)" />
      </ReactFlow>
      {nodes.length === 0 && <p className="canvas-empty secondary">{CANVAS.empty}</p>}
      <p className={dragging.reason ? "canvas-reason" : "canvas-reason invisible"} role="status">
        {dragging.reason}
      </p>
      <Zoom />
      {menu && <MenuAt at={menu} entries={entriesOf(menu.id)} onClose={() => setMenu(null)} />}
    </div>
  );
}

function selectedAfter(selected: ReadonlySet<string>, changes: readonly NodeSelectionChange[]): Set<string> {
  const next = new Set(selected);
  for (const one of changes) {
    if (one.selected) next.add(one.id);
    else next.delete(one.id);
  }
  return next;
}

const FIT = { maxZoom: 1, padding: 0.08 } as const;

/** Bring a step into view when another part of the page asks for it. */
function useWanted(wanted: CanvasProps["wanted"], graph: Graph): void {
  const flow = useReactFlow();
  const known = useRef(graph);
  known.current = graph;
  useEffect(() => {
    if (!wanted || !known.current.nodes[wanted.id]) return;
    bringIntoView(flow, wanted.id);
  }, [wanted, flow]);
}

function bringIntoView(flow: ReturnType<typeof useReactFlow>, id: string): void {
  const node = flow.getNode(id);
  if (!node) return;
  const x = node.position.x + (node.measured?.width ?? 0) / 2;
  const y = node.position.y + (node.measured?.height ?? 0) / 2;
  void flow.setCenter(x, y, { zoom: Math.max(flow.getZoom(), 0.6) });
}

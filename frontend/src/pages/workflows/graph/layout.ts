/** Where the canvas draws steps that have no position ("Arrange automatically"): layers from top to bottom, a group as
 * one block; sizes and gaps of steps. Pure. */

import type { Edge, Graph, Point } from "./file";
import { groupOf, groupsOf, type Groups } from "./groups";
import { closesGroup, isError, opensGroup } from "./kinds";

export const NODE = { width: 224, height: 72 } as const;
export const END_HEIGHT = 32;
/** The space of a group around its steps. */
export const PAD = { side: 20, head: 50, foot: 24 } as const;
const GAP = { x: 44, y: 46 } as const;

interface Size {
  width: number;
  height: number;
}

interface Block extends Size {
  /** Top left corners, from the top left corner of the block. */
  places: Map<string, Point>;
}

export function sizeOf(graph: Graph, id: string): Size {
  return closesGroup(graph.nodes[id]) ? { width: NODE.width, height: END_HEIGHT } : NODE;
}

/** A place for every step. */
export function layoutOf(graph: Graph): Map<string, Point> {
  const groups = groupsOf(graph);
  return blockOf(graph, groups, null).places;
}

/** The same workflow with places for the steps that had none; nothing moves if all have one. */
export function placed(graph: Graph): Graph {
  const steps = Object.entries(graph.nodes);
  if (steps.every(([, step]) => step.position !== null)) return graph;
  const places = layoutOf(graph);
  const nodes = Object.fromEntries(steps.map(([id, step]) => [id, { ...step, position: places.get(id) ?? [0, 0] }]));
  return { ...graph, nodes } as Graph;
}

function blockOf(graph: Graph, groups: Groups, parent: string | null): Block {
  const children = Object.keys(graph.nodes).filter((id) => (groupOf(groups, id)?.begin ?? null) === parent);
  const inner = new Map<string, Block>();
  const sizes = new Map<string, Size>();
  for (const id of children) {
    if (!opensGroup(graph.nodes[id])) {
      sizes.set(id, sizeOf(graph, id));
      continue;
    }
    const block = blockOf(graph, groups, id);
    inner.set(id, block);
    sizes.set(id, padded(block));
  }
  const places = arrange(children, sizes, edgesAmong(graph, groups, children));
  return assembled(places, sizes, inner);
}

function padded(block: Block): Size {
  return {
    width: Math.max(NODE.width, block.width) + 2 * PAD.side,
    height: block.height + PAD.head + PAD.foot,
  };
}

/** Edges between the children of one block; one that leaves an inner group leaves its block. */
function edgesAmong(graph: Graph, groups: Groups, children: readonly string[]): Edge[] {
  const known = new Set(children);
  const lift = (id: string): string | null => {
    let here: string | null = id;
    while (here !== null && !known.has(here)) here = groupOf(groups, here)?.begin ?? null;
    return here;
  };
  return graph.edges.flatMap((edge) => {
    const [from, to] = [lift(edge.from), lift(edge.to)];
    return from !== null && to !== null && from !== to ? [{ ...edge, from, to }] : [];
  });
}

/** Centres of the top edges. */
function arrange(ids: readonly string[], sizes: ReadonlyMap<string, Size>, edges: readonly Edge[]): Map<string, Point> {
  const layers = layersOf(ids, edges);
  const centres = new Map<string, Point>();
  let y = 0;
  for (const layer of layers) {
    const wanted = layer
      .map((id) => ({ id, x: wantedX(id, edges, centres, sizes), firm: !onlyOnError(id, edges) }))
      .sort((a, b) => a.x - b.x);
    const xs = spread(wanted, sizes);
    wanted.forEach(({ id }, index) => centres.set(id, [xs[index] ?? 0, y]));
    y += Math.max(...layer.map((id) => sizes.get(id)?.height ?? 0)) + GAP.y;
  }
  return centres;
}

/** Each step one layer below the last of those that lead to it. */
function layersOf(ids: readonly string[], edges: readonly Edge[]): string[][] {
  const open = new Map(ids.map((id) => [id, edges.filter((edge) => edge.to === id).length]));
  const depth = new Map(ids.map((id) => [id, 0]));
  const ready = ids.filter((id) => open.get(id) === 0);
  for (let id = ready.shift(); id !== undefined; id = ready.shift()) {
    for (const edge of edges.filter((one) => one.from === id)) {
      depth.set(edge.to, Math.max(depth.get(edge.to) ?? 0, (depth.get(id) ?? 0) + 1));
      open.set(edge.to, (open.get(edge.to) ?? 1) - 1);
      if (open.get(edge.to) === 0) ready.push(edge.to);
    }
  }
  const layers: string[][] = [];
  for (const id of ids) (layers[depth.get(id) ?? 0] ??= []).push(id);
  return layers.filter((layer) => layer.length > 0);
}

/** Below the steps that lead here: left for the first output, right for the last and for errors. */
function wantedX(
  id: string,
  edges: readonly Edge[],
  centres: ReadonlyMap<string, Point>,
  sizes: ReadonlyMap<string, Size>,
): number {
  const coming = edges.filter((edge) => edge.to === id && centres.has(edge.from));
  if (coming.length === 0) return 0;
  const xs = coming.map((edge) => {
    const [x] = centres.get(edge.from) ?? [0, 0];
    const width = Math.max(sizes.get(edge.from)?.width ?? 0, NODE.width);
    if (isError(edge.output)) return x + width + GAP.x;
    const outputs = edges.filter((one) => one.from === edge.from && !isError(one.output));
    const place = outputs.indexOf(edge) - (outputs.length - 1) / 2;
    return x + place * (width + GAP.x);
  });
  return xs.reduce((sum, x) => sum + x, 0) / xs.length;
}

function onlyOnError(id: string, edges: readonly Edge[]): boolean {
  const coming = edges.filter((edge) => edge.to === id);
  return coming.length > 0 && coming.every((edge) => isError(edge.output));
}

interface Wanted {
  id: string;
  x: number;
  /** On the main path: others make room for it. */
  firm: boolean;
}

/** Centres as near as possible to the wanted ones, without overlap. */
function spread(wanted: readonly Wanted[], sizes: ReadonlyMap<string, Size>): number[] {
  const xs: number[] = [];
  let right = -Infinity;
  for (const { id, x } of wanted) {
    const half = (sizes.get(id)?.width ?? 0) / 2;
    const centre = Math.max(x, right + GAP.x + half);
    xs.push(centre);
    right = centre + half;
  }
  const firm = wanted.some((one) => one.firm);
  const counted = wanted.flatMap((one, index) => (one.firm || !firm ? [one.x - (xs[index] ?? 0)] : []));
  const shift = counted.reduce((sum, x) => sum + x, 0) / Math.max(1, counted.length);
  return xs.map((x) => x + shift);
}

function assembled(
  centres: ReadonlyMap<string, Point>,
  sizes: ReadonlyMap<string, Size>,
  inner: ReadonlyMap<string, Block>,
): Block {
  const lefts = [...centres].map(([id, [x]]) => x - (sizes.get(id)?.width ?? 0) / 2);
  const from = lefts.length > 0 ? Math.min(...lefts) : 0;
  const places = new Map<string, Point>();
  let [width, height] = [0, 0];
  for (const [id, [x, y]] of centres) {
    const size = sizes.get(id) ?? NODE;
    const at: Point = [Math.round(x - size.width / 2 - from), y];
    places.set(id, at);
    width = Math.max(width, at[0] + size.width);
    height = Math.max(height, y + size.height);
    const block = inner.get(id);
    if (!block) continue;
    const side = (size.width - block.width) / 2;
    for (const [child, [cx, cy]] of block.places)
      places.set(child, [Math.round(at[0] + side + cx), at[1] + PAD.head + cy]);
  }
  return { places, width, height };
}

export interface Box extends Size {
  x: number;
  y: number;
}

/** The frame of a group: around its steps, or a small one where its own step is. */
export function frameOf(graph: Graph, groups: Groups, begin: string): Box {
  const boxes = [...(groups.get(begin)?.members ?? [])]
    .filter((id) => (groupOf(groups, id)?.begin ?? null) === begin && graph.nodes[id]?.position)
    .map((id) => boxOf(graph, groups, id));
  if (boxes.length === 0) {
    const [x, y] = graph.nodes[begin]?.position ?? [0, 0];
    return { x, y, width: NODE.width + 2 * PAD.side, height: PAD.head + NODE.height };
  }
  const left = Math.min(...boxes.map((box) => box.x)) - PAD.side;
  const top = Math.min(...boxes.map((box) => box.y)) - PAD.head;
  const right = Math.max(...boxes.map((box) => box.x + box.width)) + PAD.side;
  const bottom = Math.max(...boxes.map((box) => box.y + box.height)) + PAD.foot;
  return { x: left, y: top, width: right - left, height: bottom - top };
}

export function boxOf(graph: Graph, groups: Groups, id: string): Box {
  if (opensGroup(graph.nodes[id])) return frameOf(graph, groups, id);
  const [x, y] = graph.nodes[id]?.position ?? [0, 0];
  return { x, y, ...sizeOf(graph, id) };
}

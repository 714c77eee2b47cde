/** The way of an edge that would run under a step: around it, in a lane at the nearer side. Pure. */

import type { Box } from "../graph/layout";

interface Place {
  x: number;
  y: number;
}

const SAMPLES = 24;
/** Between a lane and the steps beside it. */
const GAP = 18;
/** How far an edge goes straight down from its step, and to the next one. */
const STRAIGHT = 16;
const ROUND = 10;

/** Where the lane is; null if the edge passes no step on its direct way. */
export function laneOf(from: Place, to: Place, boxes: readonly Box[]): number | null {
  const beside = boxes.filter((box) => box.y < to.y && box.y + box.height > from.y);
  if (to.y <= from.y || !beside.some((box) => isCrossed(box, from, to))) return null;
  const crossed = beside.filter((box) => isCrossed(box, from, to));
  const left = outside(Math.min(...crossed.map((box) => box.x)) - GAP, beside, -1);
  const right = outside(Math.max(...crossed.map((box) => box.x + box.width)) + GAP, beside, 1);
  const detour = (x: number) => Math.abs(x - from.x) + Math.abs(x - to.x);
  return detour(left) < detour(right) ? left : right;
}

/** The first lane from `x` on, to one side, that runs through no step. */
function outside(x: number, boxes: readonly Box[], side: 1 | -1): number {
  const hit = boxes.find((box) => x > box.x - GAP && x < box.x + box.width + GAP);
  if (!hit) return x;
  return outside(side > 0 ? hit.x + hit.width + GAP : hit.x - GAP, boxes, side);
}

/** The curve that an edge is without a lane, which runs down from one step and into another. */
function isCrossed(box: Box, from: Place, to: Place): boolean {
  const middle = (from.y + to.y) / 2;
  for (let index = 1; index < SAMPLES; index += 1) {
    const t = index / SAMPLES;
    const [a, b, c, d] = [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t ** 2 * (1 - t), t ** 3];
    const x = (a + b) * from.x + (c + d) * to.x;
    const y = a * from.y + (b + c) * middle + d * to.y;
    if (x > box.x - 4 && x < box.x + box.width + 4 && y > box.y && y < box.y + box.height) return true;
  }
  return false;
}

/** The path through the lane, and where its label stands. */
export function lanePath(from: Place, to: Place, lane: number): [path: string, x: number, y: number] {
  const [top, bottom] = [from.y + STRAIGHT, to.y - STRAIGHT];
  const places = [from, { x: from.x, y: top }, { x: lane, y: top }, { x: lane, y: bottom }, { x: to.x, y: bottom }, to];
  return [rounded(places), lane, top + 2 * STRAIGHT];
}

function rounded(places: readonly Place[]): string {
  const corners = places.slice(1, -1).map((corner, index) => {
    const [before, after] = [towards(corner, places[index]), towards(corner, places[index + 2])];
    return `L${before.x},${before.y} Q${corner.x},${corner.y} ${after.x},${after.y}`;
  });
  const [first, last] = [places[0], places.at(-1)];
  return `M${first?.x},${first?.y} ${corners.join(" ")} L${last?.x},${last?.y}`;
}

/** A place near the corner, on the way to its neighbour. */
function towards(corner: Place, other: Place = corner): Place {
  const length = Math.hypot(other.x - corner.x, other.y - corner.y);
  const part = length === 0 ? 0 : Math.min(ROUND, length / 2) / length;
  return { x: corner.x + (other.x - corner.x) * part, y: corner.y + (other.y - corner.y) * part };
}

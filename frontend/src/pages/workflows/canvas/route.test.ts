import { expect, test } from "vitest";

import { lanePath, laneOf } from "./route";

const box = (x: number, y: number, width = 224, height = 72) => ({ x, y, width, height });

test("an edge with nothing in its way needs no lane", () => {
  const beside = [box(300, 100), box(-400, 100)];
  expect(laneOf({ x: 112, y: 72 }, { x: 112, y: 400 }, beside)).toBeNull();
  expect(laneOf({ x: 112, y: 400 }, { x: 112, y: 72 }, [box(0, 200)])).toBeNull();
});

test("an edge goes around what is in its way, at the nearer side", () => {
  const [from, to] = [
    { x: 180, y: 72 },
    { x: 112, y: 600 },
  ];
  expect(laneOf(from, to, [box(0, 200)])).toBe(242);
  expect(laneOf({ ...from, x: 40 }, to, [box(0, 200)])).toBe(-18);
  expect(laneOf(from, to, [box(0, 200), box(230, 400)])).toBe(-18);
});

test("the path touches no step that it goes around", () => {
  const [path, x, y] = lanePath({ x: 180, y: 72 }, { x: 112, y: 600 }, 242);
  expect(path.startsWith("M180,72 L180,")).toBe(true);
  expect(path.endsWith("L112,600")).toBe(true);
  expect([x, y]).toEqual([242, 120]);
});

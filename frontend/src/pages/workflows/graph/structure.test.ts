import { expect, test } from "vitest";

import { addStep, connect } from "./commands";
import { changesBetween, isEmpty, sameFile } from "./changes";
import { emptyGraph, fileOf, newStep, readGraph, type Graph } from "./file";
import { groupsOf } from "./groups";
import { boxOf, layoutOf, placed, type Box } from "./layout";
import { rowsOf } from "./order";
import { sourcesFor } from "./references";
import { refusal } from "./rules";
import { BILLS, chain, KINDS } from "./samples";

function refused(graph: Graph, from: string, output: string, to: string): string {
  return refusal(graph, KINDS, { from, output, to });
}

test("a file is read with its defaults and written back unchanged", () => {
  expect(BILLS.nodes["read"]?.trace).toBe("full");
  expect(readGraph(fileOf(BILLS))).toEqual(BILLS);
});

test("a map holds its body, its end and nothing after it", () => {
  const group = groupsOf(BILLS).get("each");
  expect([...(group?.members ?? [])].sort()).toEqual(["add", "approve", "end", "large", "read"]);
});

test("a wrong edge is refused with the reason", () => {
  expect(refused(BILLS, "find", "next", "find")).toContain("cannot follow itself");
  expect(refused(BILLS, "find", "next", "each")).toContain("already connected");
  expect(refused(BILLS, "send", "next", "find")).toContain("“Bills of the last day” runs before “send”");
  expect(refused(BILLS, "warn", "next", "read")).toContain("is inside “each”");
  expect(refused(BILLS, "read", "next", "send")).toContain("leaves “each”. Connect to “end”");
  expect(refused(BILLS, "read", "error", "warn")).toContain("leaves “each”");
  expect(refused(BILLS, "end", "next", "send")).toContain("Connect the output “then” of its loop.");
  expect(refused(BILLS, "read", "maybe", "add")).toContain("no output “maybe”");
});

test("a right edge is not refused", () => {
  expect(refused(BILLS, "send", "next", "warn")).toBe("");
  expect(refused(BILLS, "read", "next", "end")).toBe("");
  const loose = { ...BILLS, nodes: { ...BILLS.nodes, new: newStep("Set") } };
  expect(refused(loose, "read", "next", "new")).toBe("");
  expect(refused(loose, "each", "body", "new")).toBe("");
});

test("an error may leave a loop but not a map", () => {
  const { graph, id } = addStep(chain("a", "b"), KINDS, "Loop", { after: { id: "a", output: "next" } });
  const inner = addStep(graph, KINDS, "Click", { after: { id, output: "body" } });
  expect(refused(inner.graph, inner.id, "error", "b")).toBe("");
  expect(refused(inner.graph, inner.id, "next", "b")).toContain("leaves “Loop”");
});

test("the list shows the order of a run, with branches and bodies indented", () => {
  const rows = rowsOf(BILLS, KINDS).map(
    (row) => `${"  ".repeat(row.depth)}${row.output ? `[${row.output}] ` : ""}${row.id}`,
  );
  expect(rows).toEqual([
    "find",
    "  [error] warn",
    "each",
    "  [body] read",
    "  large",
    "    [true] approve",
    "    [false] add",
    "  end",
    "send",
  ]);
});

test("the list shows steps that nothing leads to, and every step once", () => {
  const graph = { ...chain("a", "b"), nodes: { ...chain("a", "b").nodes, c: newStep("Set") } };
  expect(rowsOf(graph, KINDS)).toEqual([
    { id: "a", depth: 0, output: "", loose: false, leads: [] },
    { id: "b", depth: 0, output: "", loose: false, leads: [] },
    { id: "c", depth: 0, output: "", loose: true, leads: [] },
  ]);
});

test("the list names the step of an output that leads on without a branch of its own", () => {
  const edges = [
    { from: "find", to: "if", output: "next" },
    { from: "if", to: "large", output: "true" },
    { from: "large", to: "send", output: "next" },
    { from: "if", to: "send", output: "false" },
  ];
  const step = (type: string) => [type.toLowerCase(), newStep(type)];
  const nodes = {
    find: newStep("Set"),
    ...Object.fromEntries([step("If")]),
    large: newStep("Set"),
    send: newStep("Set"),
  };
  const rows = rowsOf({ ...chain("find"), nodes, edges }, KINDS);
  expect(rows.map((row) => row.id)).toEqual(["find", "if", "large", "send"]);
  expect(rows[1]?.leads).toEqual([{ output: "false", to: "send" }]);
});

function overlap(one: Box, other: Box): boolean {
  return (
    one.x < other.x + other.width &&
    other.x < one.x + one.width &&
    one.y < other.y + other.height &&
    other.y < one.y + one.height
  );
}

test("the layout puts no step over another, and what follows below", () => {
  const graph = placed(BILLS);
  const groups = groupsOf(graph);
  const ids = Object.keys(graph.nodes).filter((id) => id !== "each");
  const boxes = new Map(ids.map((id) => [id, boxOf(graph, groups, id)]));
  for (const one of ids) {
    for (const other of ids) {
      if (one < other)
        expect([one, other, overlap(boxes.get(one) as Box, boxes.get(other) as Box)]).toEqual([one, other, false]);
    }
  }
  const frame = boxOf(graph, groups, "each");
  expect(overlap(frame, boxes.get("read") as Box)).toBe(true);
  expect(overlap(frame, boxes.get("send") as Box)).toBe(false);
  expect(overlap(frame, boxes.get("warn") as Box)).toBe(false);
  expect((boxes.get("send") as Box).y).toBeGreaterThan(frame.y + frame.height);
});

test("steps that have a place keep it", () => {
  const graph = placed(chain("a", "b"));
  expect(placed(graph)).toBe(graph);
});

test("500 steps are laid out, listed and grouped", () => {
  let graph = emptyGraph("large");
  for (let number = 0; number < 500; number++) {
    graph = { ...graph, nodes: { ...graph.nodes, [`s${number}`]: newStep("Set") } };
    if (number > 0) graph = connect(graph, { from: `s${number - 1}`, to: `s${number}`, output: "next" });
  }
  expect(new Set([...layoutOf(graph).values()].map(([, y]) => y)).size).toBe(500);
  expect(rowsOf(graph, KINDS)).toHaveLength(500);
});

test("a step may refer to what comes before it, the nearest first", () => {
  const sources = sourcesFor(BILLS, KINDS, "approve");
  expect(sources.map((source) => source.root)).toEqual(["read", "find", "item", "input", "run"]);
  expect(sources[0]?.values.map((value) => `${value.path}: ${value.type}`)).toEqual([
    "read.values: object",
    "read.values.total: number",
  ]);
  expect(sourcesFor(BILLS, KINDS, "send").map((source) => source.root)).not.toContain("item");
});

test("a step on an error path may refer to the error", () => {
  expect(sourcesFor(BILLS, KINDS, "warn")[0]?.values[0]?.path).toBe("find.error.message");
});

test("the difference of two workflows is named, and a moved step is none", () => {
  const after = connect(
    { ...BILLS, nodes: { ...BILLS.nodes, log: newStep("Set"), read: newStep("Set", { values: { a: 1 } }) } },
    { from: "send", to: "log", output: "next" },
  );
  const changes = changesBetween(BILLS, after);
  expect(changes).toMatchObject({ added: ["log"], removed: [], changed: ["read"], parts: [] });
  expect(changes.edges.added).toEqual([{ from: "send", to: "log", output: "next" }]);
  expect(isEmpty(changesBetween(BILLS, placed(BILLS)))).toBe(true);
  expect(sameFile(BILLS, readGraph(fileOf(BILLS)))).toBe(true);
  expect(sameFile(BILLS, after)).toBe(false);
});

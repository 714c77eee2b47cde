import { expect, test } from "vitest";

import {
  addStep,
  changeSettings,
  changeStep,
  connect,
  freeId,
  idProblem,
  nameAfterTool,
  removeSteps,
  renameStep,
} from "./commands";
import { emptyGraph, readGraph, type Graph } from "./file";
import { copySteps, pasteSteps, readFragment } from "./fragment";
import { begin, record, redo, undo } from "./history";
import { BILLS, chain, KINDS } from "./samples";

const edges = (graph: Graph) => graph.edges.map((edge) => `${edge.from}.${edge.output}→${edge.to}`).sort();

test("a step is inserted between two that are connected", () => {
  const { graph, id } = addStep(chain("a", "b"), KINDS, "FindText", { after: { id: "a", output: "next" } });
  expect(id).toBe("find_text");
  expect(edges(graph)).toEqual(["a.next→find_text", "find_text.next→b"]);
});

test("a loop comes with its end, and what follows it is done afterwards", () => {
  const { graph, id } = addStep(chain("a", "b"), KINDS, "Loop", { after: { id: "a", output: "next" } });
  expect(graph.nodes["end_loop"]?.settings).toEqual({ loop: id });
  expect(edges(graph)).toEqual(["a.next→loop", "loop.body→end_loop", "loop.done→b"]);
});

test("an output has one edge at most", () => {
  const graph = connect(connect(chain("a", "b", "c"), { from: "a", to: "c", output: "next" }), {
    from: "a",
    to: "b",
    output: "error",
  });
  expect(edges(graph)).toEqual(["a.error→b", "a.next→c", "b.next→c"]);
});

test("what a removed step connected stays connected", () => {
  expect(edges(removeSteps(chain("a", "b", "c"), KINDS, ["b"]))).toEqual(["a.next→c"]);
});

test("removing a loop keeps what it repeated, once, and removes its end", () => {
  const graph = removeSteps(BILLS, KINDS, ["each"]);
  expect(Object.keys(graph.nodes)).not.toContain("end");
  expect(edges(graph)).toContain("find.next→read");
  expect(edges(graph)).toContain("approve.next→send");
  expect(edges(graph)).toContain("add.next→send");
});

test("removing an empty loop connects its neighbours", () => {
  const { graph, id } = addStep(chain("a", "b"), KINDS, "Loop", { after: { id: "a", output: "next" } });
  expect(edges(removeSteps(graph, KINDS, [id]))).toEqual(["a.next→b"]);
});

test("the end of a loop is not removed alone", () => {
  expect(removeSteps(BILLS, KINDS, ["end"])).toBe(BILLS);
});

test("ids are not used twice, nor the names that references use", () => {
  expect(freeId(chain("set", "set_2"), "Set")).toBe("set_3");
  expect(freeId(emptyGraph("x"), "Input")).toBe("input_2");
  expect(idProblem(BILLS, "find", "read")).toBe("taken");
  expect(idProblem(BILLS, "run", "read")).toBe("reserved");
  expect(idProblem(BILLS, "Read", "read")).toBe("shape");
  expect(idProblem(BILLS, "read", "read")).toBeNull();
});

test("edges, references and the ends of groups follow a new id", () => {
  const graph = renameStep(renameStep(BILLS, "find", "search"), "each", "bills");
  expect(edges(graph)).toContain("search.error→warn");
  expect(graph.nodes["send"]?.settings).toEqual({ text: "{{bills.results}} from {{search.count}}" });
  expect(graph.nodes["end"]?.settings["map"]).toBe("bills");
});

test("edges of cases that were removed go", () => {
  const graph = readGraph({
    name: "x",
    nodes: { pick: { type: "Switch", settings: { cases: [{ name: "big" }] } }, a: { type: "Set" } },
    edges: [{ from: "pick", to: "a", output: "big" }],
  });
  expect(changeSettings(graph, "pick", { cases: [] }, ["default"]).edges).toEqual([]);
});

test("copied steps keep their edges and references under new ids", () => {
  const { graph, ids } = pasteSteps(BILLS, copySteps(BILLS, ["each", "read"]));
  expect(ids).toEqual(["map", "end_map", "set"]);
  expect(graph.nodes["end_map"]?.settings).toEqual({ map: "map", value: "{{set.values.total}}" });
  expect(edges(graph)).toContain("map.body→set");
  expect(edges(graph)).toHaveLength(BILLS.edges.length + 1);
});

test("only a fragment is pasted", () => {
  expect(readFragment("hello")).toBeNull();
  expect(readFragment('{"nodes": {}}')).toBeNull();
  expect(readFragment(JSON.stringify(copySteps(BILLS, ["read"])))?.edges).toEqual([]);
});

test("changes are undone and done again, and typing in one field is one change", () => {
  let history = begin("");
  for (const text of ["a", "ab", "abc"]) history = record(history, text, "name");
  history = record(history, "other", "about");
  expect(undo(history).present).toBe("abc");
  expect(undo(undo(history)).present).toBe("");
  expect(redo(undo(history)).present).toBe("other");
  expect(undo(undo(undo(history))).present).toBe("");
});

test("the history is bounded", () => {
  let history = begin(0);
  for (let value = 1; value <= 1000; value++) history = record(history, value);
  expect(history.past).toHaveLength(100);
});

test("a new step is named after its type, and then after its tool", () => {
  const first = addStep(emptyGraph("x"), KINDS, "McpToolCall");
  const second = addStep(first.graph, KINDS, "McpToolCall", { after: { id: first.id, output: "next" } });
  expect([first.id, second.id]).toEqual(["tool_call", "tool_call_2"]);
  expect(second.graph.nodes[second.id]?.name).toBe("Call a tool 2");

  const call = (graph: Graph, id: string, tool: string) =>
    nameAfterTool(
      changeStep(graph, id, { settings: { tool } }),
      KINDS,
      id,
      String(graph.nodes[id]?.settings["tool"] ?? ""),
    );
  const one = call(second.graph, first.id, "demo__add");
  const two = call(one.graph, second.id, "other__add");
  expect([one.id, two.id]).toEqual(["add", "add_2"]);
  expect(two.graph.nodes["add_2"]?.name).toBe("Add 2");
  expect(edges(two.graph)).toEqual(["add.next→add_2"]);

  const again = call(two.graph, "add_2", "files__read_text_file");
  expect([again.id, again.graph.nodes[again.id]?.name]).toEqual(["read_text_file", "Read text file"]);
});

test("a step that somebody has named keeps its name and id", () => {
  const { graph, id } = addStep(emptyGraph("x"), KINDS, "McpToolCall");
  const named = changeStep(graph, id, { name: "Sum up", settings: { tool: "demo__add" } });
  expect(nameAfterTool(named, KINDS, id, "")).toEqual({ graph: named, id });
});

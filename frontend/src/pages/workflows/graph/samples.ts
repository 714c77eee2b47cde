/** Workflows and types for the tests of the editor. */

import { emptyGraph, newStep, readGraph, type Graph } from "./file";
import type { Kind, Kinds } from "./kinds";

function kind(name: string, outputs: readonly string[] = ["next"], result: Record<string, unknown> = {}): Kind {
  return {
    name,
    title: name === "McpToolCall" ? "Call a tool" : name,
    group: "tools",
    about: "",
    settings: { type: "object", properties: {} },
    result: { type: "object", properties: result },
    outputs,
  };
}

export const KINDS: Kinds = new Map(
  [
    kind("Set", ["next"], { values: { type: "object", properties: { total: { type: "number" } } } }),
    kind("FindText", ["next"], { found: { type: "boolean" }, count: { type: "integer" } }),
    kind("If", ["true", "false"]),
    kind("Switch", ["default"]),
    kind("Loop", ["body", "done"]),
    kind("EndLoop", []),
    kind("Map", ["body", "done"]),
    kind("EndMap", []),
    kind("Click"),
    kind("McpToolCall"),
  ].map((one) => [one.name, one]),
);

/** `a` → `b` → `c` and so on, all of one type. */
export function chain(...ids: string[]): Graph {
  const edges = ids.slice(1).map((to, index) => ({ from: ids[index] ?? "", to, output: "next" }));
  return { ...emptyGraph("chain"), nodes: Object.fromEntries(ids.map((id) => [id, newStep("Set")])), edges };
}

/** A list of bills: each is read, a large one is approved, and all are sent. */
export const BILLS: Graph = readGraph({
  name: "bills",
  inputs: { folder: { type: "string", description: "Where the bills are" } },
  nodes: {
    find: { type: "FindText", name: "Bills of the last day" },
    each: { type: "Map", settings: { over: "{{find.count}}" } },
    read: { type: "Set" },
    large: { type: "If", name: "Total over 500?" },
    approve: { type: "Set" },
    add: { type: "Set" },
    end: { type: "EndMap", settings: { map: "each", value: "{{read.values.total}}" } },
    send: { type: "Click", settings: { text: "{{each.results}} from {{find.count}}" } },
    warn: { type: "Click" },
  },
  edges: [
    { from: "find", to: "each" },
    { from: "find", to: "warn", output: "error" },
    { from: "each", to: "read", output: "body" },
    { from: "read", to: "large" },
    { from: "large", to: "approve", output: "true" },
    { from: "large", to: "add", output: "false" },
    { from: "approve", to: "end" },
    { from: "add", to: "end" },
    { from: "each", to: "send", output: "done" },
  ],
});

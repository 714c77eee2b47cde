import { expect, test } from "vitest";

import type { WorkflowProblem } from "../../../api/types";
import { nameFrom } from "../list/workflowActions";
import { addStep, changeStep } from "../graph/commands";
import { emptyGraph } from "../graph/file";
import type { Kind, Kinds } from "../graph/kinds";
import { KINDS } from "../graph/samples";
import { problemsToShow, problemText } from "./problems";

const problem = (node: string | null, message: string, hint = ""): WorkflowProblem => ({
  node,
  message,
  hint,
  warning: false,
});

test("a new step is wrong once a part of it was filled in and it was left, or it is stored", () => {
  const empty = emptyGraph("x");
  const { graph, id } = addStep(empty, KINDS, "Click");
  const found = [problem(id, "x is required.")];
  const begun = changeStep(graph, id, { settings: { y: 1 } });
  expect(problemsToShow(found, graph, empty, new Set())).toEqual([]);
  expect(problemsToShow(found, begun, empty, new Set([id]))).toEqual([]);
  expect(problemsToShow(found, begun, empty, new Set())).toEqual(found);
  expect(problemsToShow(found, graph, graph, new Set([id]))).toEqual(found);
  expect(problemsToShow([problem(null, "Add the first step.")], empty, empty, new Set())).toEqual([]);
});

test("a problem names settings and outputs as the page does", () => {
  const loop = KINDS.get("Loop") as Kind;
  const properties = { exit_condition: { title: "Stop when" }, plain: {} };
  const kinds: Kinds = new Map([...KINDS, ["Loop", { ...loop, settings: { properties } }]]);
  const { graph, id } = addStep(emptyGraph("x"), kinds, "Loop");
  const text = (message: string, hint = "") => problemText(problem(id, message, hint), graph, kinds);
  expect(text("exit_condition is required.")).toBe("“Stop when” is required.");
  expect(text("exit_condition.all[0].left: Wrong.")).toBe("“Stop when · all · 0 · left”: Wrong.");
  expect(text("The output 'body' has no edge.", "Connect it.")).toBe("The output “each time” has no edge. Connect it.");
  expect(text("plain is required.")).toBe("plain is required.");
  expect(text("Nothing leads here.")).toBe("Nothing leads here.");
});

test("a workflow's name is made of what was typed", () => {
  expect(["My report", "Übersicht 2027!", "already-good_1", " -- ", "a".repeat(80)].map(nameFrom)).toEqual([
    "my-report",
    "ubersicht-2027",
    "already-good_1",
    "",
    "a".repeat(64),
  ]);
});

import { expect, test } from "vitest";

import type { StepShown } from "../../../api/types";
import { BILLS } from "../graph/samples";
import { askingStep, mapProgress, progressOf, visitPlace, wayOf } from "./progress";
import { decisionText, noteText } from "../text/runs";
import { runsLabel, took } from "./states";

function visit(step: string, state: StepShown["state"] = "done", output: string | null = "next"): StepShown {
  const node = (step.split("/").at(-1) ?? "").replace(/#\d+$/, "");
  return {
    step,
    node,
    type: "Set",
    state,
    attempts: 1,
    started: null,
    ended: null,
    error: null,
    output,
    line: "",
    reused: false,
  };
}

const RUN = [
  visit("find"),
  visit("each", "running", null),
  visit("each[0]/read"),
  visit("each[0]/approve", "waiting", null),
  visit("each[1]/read"),
  visit("each[1]/add"),
  visit("each[2]/read", "running", null),
];

test("a step shows the visit that needs the user, and how many there were", () => {
  const progress = progressOf(RUN, []);
  expect(progress.get("read")).toMatchObject({ visits: 3, visit: { step: "each[2]/read" } });
  const asked = progressOf([...RUN, visit("each[1]/approve")], []);
  expect(asked.get("approve")).toMatchObject({ visits: 2, visit: { step: "each[0]/approve" } });
});

test("a question of a sub-workflow belongs to the step that started it", () => {
  const steps = [visit("find"), visit("sub", "waiting", null), visit("each[0]/sub#2", "waiting", null)];
  expect(askingStep(steps, "sub/ask")).toBe(steps[1]);
  expect(askingStep(steps, "sub~2/deeper/ask")).toBe(steps[1]);
  expect(askingStep(steps, "each[0]/sub#2/ask")).toBe(steps[2]);
  expect(askingStep(steps, "find")).toBe(steps[0]);
  expect(askingStep(steps, "finder/ask")).toBeUndefined();
});

test("the items of a map are counted from 1", () => {
  expect(mapProgress(RUN, "each")).toEqual({ begun: 3, working: [1, 3] });
  expect(visitPlace("each[2]/inner[0]/read#4")).toEqual({ items: [3, 1], visit: 4 });
  expect(visitPlace("read")).toEqual({ items: [], visit: 1 });
});

const DECIDED = [{ node: "large", output: "true", reason: "", taken: { false: 1, true: 2 } }];

test("steps that decide are reached like the others", () => {
  const { reached } = wayOf(BILLS, { steps: RUN, decisions: DECIDED });
  expect([...reached].sort()).toEqual(["add", "approve", "each", "end", "find", "large", "read"]);
});

test("the edges that were taken are known, also of steps that decide", () => {
  const { taken } = wayOf(BILLS, { steps: RUN, decisions: DECIDED });
  expect([...taken].sort()).toEqual(["add next", "each body", "find next", "large false", "large true", "read next"]);
  const one = wayOf(BILLS, {
    steps: RUN,
    decisions: [{ node: "large", output: "true", reason: "", taken: { true: 1 } }],
  });
  expect(one.taken).not.toContain("large false");
});

test("a decision is told with its reason, and several by how often each way was taken", () => {
  const decision = { output: "true", reason: "42 is greater than 10", taken: { true: 1 } };
  expect(decisionText(decision)).toBe("Took “yes”: 42 is greater than 10.");
  expect(decisionText({ ...decision, taken: { true: 2, false: 1 } })).toBe("Took “yes” 2 times, “no” once.");
});

test("notes are sentences, also those of a kind that is not known", () => {
  const name = (id: string) => `Step ${id}`;
  const route = { kind: "route", node: "if", output: "false", reason: "the value is empty" };
  expect(noteText(route, name)).toBe("Step if: Took “no”: the value is empty.");
  expect(noteText({ kind: "model_decision", model: "demo", calls: ["demo__add"] }, name)).toBe(
    "Asked demo. It made 1 tool call: demo__add.",
  );
  expect(noteText({ kind: "something_new", a: 1 }, name)).toBe("something new.");
});

test("the last runs are described in words", () => {
  const run = (state: "finished" | "failed") => ({
    state,
    run: "",
    workflow: "",
    started: "",
    ended: null,
    error: null,
    parent: null,
  });
  expect(runsLabel([run("finished"), run("finished"), run("failed")])).toBe("Last 3 runs: 2 done, 1 failed");
});

test("a run that goes on has taken the time until now", () => {
  const started = "2026-11-17T02:00:00Z";
  expect(took({ started, ended: "2026-11-17T02:00:05Z" }, 0)).toBe(5000);
  expect(took({ started, ended: null }, Date.parse("2026-11-17T02:01:00Z"))).toBe(60_000);
  expect(took({ started: null, ended: null }, 0)).toBeNull();
});

import { expect, test } from "vitest";

import type { StepShown } from "../../../api/types";
import { BILLS } from "../graph/samples";
import { askingStep, edgesTaken, mapProgress, progressOf, reachedIn, visitPlace } from "./progress";
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
    reused: false,
  };
}

const RUN = [
  visit("find"),
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

test("control steps are reached when what follows them is", () => {
  expect([...reachedIn(BILLS, RUN)].sort()).toEqual(["add", "approve", "each", "find", "large", "read"]);
});

test("the edges that were taken are known, also of control steps", () => {
  const taken = edgesTaken(BILLS, RUN);
  expect(taken).toContain("find next");
  expect(taken).toContain("each body");
  expect(taken).toContain("large true");
  expect(taken).toContain("large false");
  expect(taken).not.toContain("find error");
  expect(taken).not.toContain("each done");
  expect(edgesTaken(BILLS, [...RUN, visit("each", "done", "done")])).toContain("each body");
  const one = edgesTaken(BILLS, RUN.slice(0, 3));
  expect(one).toContain("large true");
  expect(one).not.toContain("large false");
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

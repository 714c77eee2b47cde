/** Texts about runs: words for states of runs and steps ("Waits for you"), history, comparison of two. */

import type { RunDecision } from "../../../api/types";
import { plural } from "../../../ui/amounts";
import { outputLabel } from "./edges";

export const RUNS = {
  none: "No runs yet.",
  older: "Older runs",
  latest: (name: string) =>
    `These are the latest 1,000 runs. Earlier ones: toolcrib workflow runs ${name} --before RUN`,
  notStarted: (count: number) => `${plural(count, "start")} by triggers failed. See Triggers in the menu.`,
  more: "Actions",
  open: "Open",
  compare: "Compare",
  compareHint: "Select two runs to compare them.",
  select: (run: string) => `Select run ${run}`,
  again: "Run again",
  from: (name: string) => `Run again from “${name}”`,
  started: (run: string) => `Started run ${run}.`,
  comparison: "Compare two runs",
  same: "No differences.",
  only: "Only in this run",
  differs: (what: string) => `Differs: ${what}`,
  inputs: "Inputs that differ",
  outputs: "Results that differ",
  parts: {
    state: "state",
    output: "path",
    inputs: "received values",
    value: "returned value",
    error: "error",
  } as Record<string, string>,
};

export const RUN = {
  states: {
    queued: "Queued",
    running: "Running",
    paused: "Paused",
    waiting: "Waits for you",
    finished: "Done",
    failed: "Failed",
    cancelled: "Stopped",
  },
  stepStates: {
    running: "Running",
    waiting: "Waits for you",
    retrying: "Trying again",
    done: "Done",
    failed: "Failed",
    skipped: "Skipped",
    cancelled: "Stopped",
    uncertain: "May have happened",
  },
  notReached: "Not reached",
  rounds: (count: number) => plural(count, "round"),
  visits: (count: number) => plural(count, "visit"),
  last: (count: number, parts: string) =>
    count === 0 ? "No runs yet" : `Last ${plural(count, "run")}: ${parts}`.replace("Last 1 run", "Last run"),
};

/** `Took “yes”: 42 is greater than 10.`; of several, how often each: `Took “yes” 2 times, “no” once.` */
export function decisionText({ output, reason, taken }: Pick<RunDecision, "output" | "reason" | "taken">): string {
  const each = Object.entries(taken);
  if (each.reduce((sum, [, count]) => sum + count, 0) > 1)
    return `Took ${each.map(([name, count]) => `“${outputLabel(name)}” ${times(count)}`).join(", ")}.`;
  return tookText(output, reason);
}

/** One decision: `Took “yes”: 42 is greater than 10.` */
export function tookText(output: string, reason: string): string {
  const took = `Took “${outputLabel(output)}”`;
  return reason ? `${took}: ${reason.replace(/\.$/, "")}.` : `${took}.`;
}

function times(count: number): string {
  return count === 1 ? "once" : plural(count, "time");
}

type Note = Record<string, unknown>;

/** What each kind of note says; `nameOf` gives the name of a step. */
const NOTES: Record<string, (note: Note, nameOf: (id: string) => string) => string> = {
  route: (note, nameOf) => `${nameOf(text(note, "node"))}: ${tookText(text(note, "output"), text(note, "reason"))}`,
  answer: (note) => [`You answered “${text(note, "choice")}”.`, text(note, "comment")].filter(Boolean).join(" "),
  sub_workflow: (note) => `Ran the workflow “${text(note, "workflow")}”.`,
  check: (note) =>
    `${note["passed"] === true ? "Check passed" : note["on_fail"] === "warn" ? "Check failed, as a warning" : "Check failed"}: ${text(note, "reason")}.`,
  uncertain: (note) =>
    `Asked whether to do this again: ${text(note, "reason")} ${note["choice"] ? `You answered “${text(note, "choice")}”.` : "Nobody answered."}`,
  target_resolved: (note) =>
    `Found “${text(note, "target")}” at ${text(note, "x")}, ${text(note, "y")}. Matches: ${text(note, "matches")}.`,
  model_decision: (note) => `Asked ${text(note, "model")}. It made ${calls(note["calls"])}.`,
  replayed: (note) => `Took the recorded answer${note["model"] ? ` of ${text(note, "model")}` : ""}.`,
  printed: (note) => `Printed: ${text(note, "text")}`,
};

/** A note of a step as a sentence. */
export function noteText(note: Note, nameOf: (id: string) => string): string {
  const kind = text(note, "kind");
  return NOTES[kind]?.(note, nameOf) ?? `${kind.replaceAll("_", " ")}.`;
}

function text(note: Note, key: string): string {
  const value = note[key];
  return value === null || value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
}

function calls(value: unknown): string {
  const names = Array.isArray(value) ? value.map(String) : [];
  return names.length === 0 ? "no tool calls" : `${plural(names.length, "tool call")}: ${names.join(", ")}`;
}

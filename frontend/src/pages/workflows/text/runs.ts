/** Texts about runs: words for states of runs and steps ("Waits for you"), history, comparison of two. */

import { plural } from "../../../ui/amounts";

export const RUNS = {
  none: "No runs yet.",
  older: "Older runs",
  latest: (name: string) =>
    `These are the latest 1,000 runs. Earlier ones: toolcrib workflow runs ${name} --before RUN`,
  notStarted: (count: number) => `${plural(count, "start")} by triggers failed. “Start by itself” shows why.`,
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
  last: (count: number, parts: string) =>
    count === 0 ? "No runs yet" : `Last ${plural(count, "run")}: ${parts}`.replace("Last 1 run", "Last run"),
};

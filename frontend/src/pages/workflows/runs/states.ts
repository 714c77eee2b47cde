/** Shapes and words for the states of runs and steps, and how long one took. Pure. */

import type { RunShown, RunSummary, StepShown } from "../../../api/types";
import type { Shown } from "../../../ui/states";
import { RUN } from "../text/runs";

export type RunState = RunShown["state"];
export type StepState = StepShown["state"];

const RUNS: Record<RunState, Shown> = {
  queued: { shape: "wait", word: RUN.states.queued },
  running: { shape: "work", word: RUN.states.running },
  paused: { shape: "wait", word: RUN.states.paused },
  waiting: { shape: "need", word: RUN.states.waiting },
  finished: { shape: "done", word: RUN.states.finished },
  failed: { shape: "fail", word: RUN.states.failed },
  cancelled: { shape: "stop", word: RUN.states.cancelled },
};

const STEPS: Record<StepState, Shown> = {
  running: { shape: "work", word: RUN.stepStates.running },
  waiting: { shape: "need", word: RUN.stepStates.waiting },
  retrying: { shape: "retry", word: RUN.stepStates.retrying },
  done: { shape: "done", word: RUN.stepStates.done },
  failed: { shape: "fail", word: RUN.stepStates.failed },
  skipped: { shape: "deny", word: RUN.stepStates.skipped },
  cancelled: { shape: "stop", word: RUN.stepStates.cancelled },
  uncertain: { shape: "need", word: RUN.stepStates.uncertain },
};

export function runState(state: RunState): Shown {
  return RUNS[state];
}

export function stepState(state: StepState): Shown {
  return STEPS[state];
}

export function isOver(state: RunState): boolean {
  return state === "finished" || state === "failed" || state === "cancelled";
}

/** Milliseconds that a run or a step took, so far if it has not ended; null if it has not begun. */
export function took(one: { started: string | null; ended: string | null }, now: number): number | null {
  if (!one.started) return null;
  return Math.max(0, (one.ended ? Date.parse(one.ended) : now) - Date.parse(one.started));
}

/** `Last 14 runs: 11 done, 1 failed`. */
export function runsLabel(runs: readonly RunSummary[]): string {
  const counts = new Map<string, number>();
  for (const run of runs) {
    const word = runState(run.state).word.toLowerCase();
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const parts = [...counts].map(([word, count]) => `${count} ${word}`);
  return RUN.last(runs.length, parts.join(", "));
}

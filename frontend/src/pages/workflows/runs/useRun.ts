/** The run that is shown: how often it is fetched again, and pause, resume, single step, stop. */

import { useEffect, useMemo, useState } from "react";

import { run as perform } from "../../../api/client";
import { sentence } from "../../../api/errors";
import { refreshSoon, useOperation } from "../../../api/hooks";
import type { RunDecision, RunShown } from "../../../api/types";
import { notify } from "../../../app/notices";
import type { Graph } from "../graph/file";
import { progressOf, wayOf, type Progress, type Way } from "./progress";
import { isOver } from "./states";

const POLL = 5_000;

export interface ShownRun extends Way {
  run: RunShown;
  progress: ReadonlyMap<string, Progress>;
  /** By the id of the step. */
  decisions: ReadonlyMap<string, RunDecision>;
  over: boolean;
}

export function useRun(id: string | null): { data: RunShown | undefined; error: Error | null } {
  const { data, error, refetch } = useOperation(
    "workflow_show",
    { run: id ?? "", definition: true },
    { enabled: id !== null, keepPrevious: true },
  );
  const active = data !== undefined && !isOver(data.state);
  useEffect(() => {
    if (!active || id === null) return;
    // Events say what changed; this is for those that were lost.
    const timer = setInterval(() => !document.hidden && void refetch(), POLL);
    return () => clearInterval(timer);
  }, [active, id, refetch]);
  return { data: id !== null && data?.run.startsWith(id) ? data : undefined, error: id === null ? null : error };
}

export function useShownRun(run: RunShown | undefined, graph: Graph): ShownRun | null {
  return useMemo(() => {
    if (!run) return null;
    return {
      run,
      progress: progressOf(run.steps, run.questions),
      decisions: new Map(run.decisions.map((one) => [one.node, one])),
      ...wayOf(graph, run),
      over: isOver(run.state),
    };
  }, [run, graph]);
}

type RunOperation = "workflow_cancel" | "workflow_pause" | "workflow_resume" | "workflow_step_once";

export async function actOnRun(operation: RunOperation, run: string): Promise<void> {
  try {
    await perform(operation, { run });
  } catch (error) {
    notify(sentence(error));
  }
  refreshSoon("workflow_show", "workflow_runs");
}

/** The time, every second while something goes on. */
export function useClock(active: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    setNow(Date.now());
    if (!active) return;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [active]);
  return now;
}

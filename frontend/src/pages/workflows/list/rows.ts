/** The rows of the list of workflows. Pure. */

import type { RunSummary, WorkflowSummary } from "../../../api/types";
import { isOver } from "../runs/states";

export interface WorkflowRow {
  workflow: WorkflowSummary;
  /** The newest first, at most 14. */
  runs: RunSummary[];
  latest: RunSummary | null;
  next: string | null;
}

const SHOWN = 14;

export function rowsOf(
  workflows: readonly WorkflowSummary[],
  runs: readonly RunSummary[],
  next: ReadonlyMap<string, string>,
  words: string,
): WorkflowRow[] {
  const wanted = words.trim().toLowerCase();
  const byName = new Map<string, RunSummary[]>();
  for (const run of runs) byName.set(run.workflow, [...(byName.get(run.workflow) ?? []), run]);
  return workflows
    .filter((one) => `${one.name} ${one.description}`.toLowerCase().includes(wanted))
    .map((workflow) => {
      const own = byName.get(workflow.name) ?? [];
      return { workflow, runs: own.slice(0, SHOWN), latest: own[0] ?? null, next: next.get(workflow.name) ?? null };
    })
    .sort((one, other) => rank(one) - rank(other) || one.workflow.name.localeCompare(other.workflow.name));
}

/** What waits for the user comes first, then what runs. */
function rank({ latest }: WorkflowRow): number {
  if (latest?.state === "waiting") return 0;
  return latest && !isOver(latest.state) ? 1 : 2;
}

/** The rows of the list of workflows: filter, order (waiting ones first, then running), how many runs each shows.
 * Pure. */

import type { RunSummary, WorkflowSummary } from "../../../api/types";
import { isOver } from "../runs/states";

export interface WorkflowRow {
  workflow: WorkflowSummary;
  /** The newest first, at most 14. */
  runs: RunSummary[];
  /** What waits for the user, else the newest. */
  latest: RunSummary | null;
  waits: boolean;
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
      const waiting = own.find((run) => run.state === "waiting");
      return {
        workflow,
        runs: own.slice(0, SHOWN),
        latest: waiting ?? own[0] ?? null,
        waits: waiting !== undefined,
        next: next.get(workflow.name) ?? null,
      };
    })
    .sort((one, other) => rank(one) - rank(other) || one.workflow.name.localeCompare(other.workflow.name));
}

/** What waits for the user comes first, then what runs. */
function rank({ waits, latest }: WorkflowRow): number {
  if (waits) return 0;
  return latest && !isOver(latest.state) ? 1 : 2;
}

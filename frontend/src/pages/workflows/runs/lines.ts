/** What came of a step in one line, as the canvas and the list show it. Pure. */

import type { RunDecision } from "../../../api/types";
import type { Step } from "../graph/file";
import { opensGroup } from "../graph/kinds";
import { STEPS } from "../text/editor";
import { decisionText, RUN } from "../text/runs";
import { visitPlace } from "./progress";
import { stepState } from "./states";
import type { ShownRun } from "./useRun";

/** The question it asks, its error, its result or its state; empty for a step that does nothing by itself. `brief`:
 * a decision without "Took", for the narrow steps of the canvas. */
export function runLine(shown: ShownRun, id: string, step: Step, brief = false): string {
  const progress = shown.progress.get(id);
  const decision = shown.decisions.get(id);
  if (!progress) return decision ? decided(decision, step, brief) : shown.reached.has(id) ? "" : RUN.notReached;
  const { visit, question, visits } = progress;
  const { items, visit: number } = visitPlace(visit.step);
  const said = question?.text ?? visit.error?.message;
  if (said) return [STEPS.place(items, number), said].filter(Boolean).join(": ");
  const result = visit.line || stepState(visit.state).word;
  if (items.length > 0) return `${STEPS.place(items, number)} · ${result}`;
  return visits > 1 ? `${result} · ${RUN.visits(visits)}` : result;
}

function decided(decision: RunDecision, step: Step, brief: boolean): string {
  const rounds = decision.taken["body"];
  if (!step.enabled) return STEPS.off;
  if (opensGroup(step) && rounds) return RUN.rounds(rounds);
  const text = decisionText(decision);
  return brief ? text.replace(/^Took |\.$/g, "") : text;
}

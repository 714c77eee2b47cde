/** Starting a run of the drawn workflow: saves it first, reviews one that was made elsewhere, and remembers why it did
 * not start. */

import { useCallback, useMemo, useState } from "react";

import { run } from "../../../api/client";
import { refreshSoon } from "../../../api/hooks";
import type { WorkflowReview } from "../../../api/types";
import { START } from "../text/editor";
import type { EditorControls } from "./state";
import type { Saving } from "./useSaving";

export interface Starting {
  busy: boolean;
  /** Why it did not start. */
  trouble: unknown;
  /** What a workflow from elsewhere does, if that has to be confirmed first. */
  review: WorkflowReview | null;
  start: (inputs: Record<string, unknown>) => Promise<void>;
  forget: () => void;
}

export function useStart(editor: EditorControls, saving: Saving, onRun: (run: string) => void): Starting {
  const [busy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState<unknown>(null);
  const [review, setReview] = useState<WorkflowReview | null>(null);
  const { now } = editor;
  const { save } = saving;
  const start = useCallback(
    async (inputs: Record<string, unknown>) => {
      setBusy(true);
      setTrouble(null);
      try {
        if (!(await save())) throw new Error(START.notSaved);
        const { name } = now().stored;
        const found = await run("workflow_review", { name });
        if (!found.confirmed && found.version !== review?.version) return setReview(found);
        if (!found.confirmed) await run("workflow_confirm", { name, version: found.version });
        // The host needs seconds for the first run; it begins even if the page is closed meanwhile.
        const params = { name, inputs, breakpoints: [...now().breakpoints], detach: true };
        const started = await run("workflow_run", params, undefined, { keepalive: true });
        refreshSoon("workflow_runs");
        onRun(started.run);
      } catch (error) {
        setTrouble(error);
      } finally {
        setBusy(false);
      }
    },
    [now, save, review, onRun],
  );
  const forget = useCallback(() => {
    setTrouble(null);
    setReview(null);
  }, []);
  return useMemo(() => ({ busy, trouble, review, start, forget }), [busy, trouble, review, start, forget]);
}

/** Fetches what starts workflows by themselves. */

import { useOperation } from "../../../api/hooks";

export function useTriggers(workflow: string | null) {
  return useOperation("workflow_triggers", { name: workflow });
}

/** The column "Next start": the earliest start of each workflow's triggers. */

import { useMemo } from "react";

import { useTriggers } from "../editor/triggers";

/** When each workflow starts by itself next. */
export function useNextStarts(): ReadonlyMap<string, string> {
  const triggers = useTriggers(null);
  return useMemo(() => {
    const found = new Map<string, string>();
    for (const one of triggers.data ?? []) {
      const before = found.get(one.workflow);
      if (one.next && (!before || one.next < before)) found.set(one.workflow, one.next);
    }
    return found;
  }, [triggers.data]);
}

/** When the host is asked what is wrong with the drawn workflow: 400 ms after the last change. */

import { useEffect, useState } from "react";

import { run } from "../../../api/client";
import type { WorkflowProblem } from "../../../api/types";
import { fileOf, type Graph } from "../graph/file";

const REST = 400;

/** What is wrong with the workflow as it is drawn now, some time after the last change. */
export function useProblems(
  graph: Graph,
  dirty: boolean,
  stored: readonly WorkflowProblem[],
): readonly WorkflowProblem[] {
  const [found, setFound] = useState<readonly WorkflowProblem[]>(stored);
  useEffect(() => {
    if (!dirty) return setFound(stored);
    const leaving = new AbortController();
    const timer = setTimeout(() => {
      run("workflow_validate", { workflow: fileOf(graph) }, leaving.signal)
        .then((checked) => setFound(checked.problems))
        .catch(() => undefined); // The strip above the page says that the host is gone.
    }, REST);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [graph, dirty, stored]);
  return found;
}

/** The dialogs that can begin a workflow, as data. */

import type { WorkflowReview } from "../../../api/types";
import type { Graph } from "../graph/file";

/** A way to begin a workflow. */
export type Begin =
  | { what: "blank" | "templates" | "plan" }
  | { what: "draft"; graph: Graph; doubts: readonly string[] }
  | { what: "imported"; review: WorkflowReview }
  | { what: "name"; title: string; file: Record<string, unknown> | null; suggested: string; imported?: boolean };

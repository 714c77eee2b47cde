import type { Graph } from "../graph/file";

/** A way to begin a workflow. */
export type Begin =
  | { what: "blank" | "templates" | "plan" }
  | { what: "draft"; graph: Graph; doubts: readonly string[] }
  | { what: "name"; title: string; file: Record<string, unknown> | null; suggested: string };

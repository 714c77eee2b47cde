/** The file of a workflow as text, to compare two versions; places of steps are left out. */

import { fileOf, type Graph } from "../graph/file";

/** The file of a workflow as lines to compare; where steps are drawn is left out. */
export function fileText(graph: Graph): string {
  return JSON.stringify(fileOf(graph), (key, value: unknown) => (key === "position" ? undefined : value), 2);
}

/** Which problems of the drawn workflow are shown, and their text with the labels of settings and outputs. Pure. */

import type { WorkflowProblem } from "../../../api/types";
import { asSchema } from "../../../ui/schema-form/schema";
import type { Graph } from "../graph/file";
import { closesGroup, type Kinds } from "../graph/kinds";
import { outputLabel } from "../text/edges";

/** A new step is not wrong until somebody has filled in a part of it and left it, or the workflow is saved. */
export function problemsToShow(
  problems: readonly WorkflowProblem[],
  graph: Graph,
  stored: Graph,
  selected: ReadonlySet<string>,
): WorkflowProblem[] {
  const isUntouched = (id: string) => {
    const step = graph.nodes[id];
    return !step || closesGroup(step) || Object.keys(step.settings).length === 0;
  };
  return problems.filter(({ node }) => {
    if (node === null) return Object.keys(graph.nodes).length > 0;
    return node in stored.nodes || !(selected.has(node) || isUntouched(node));
  });
}

/** `“Stop when” is required.` instead of `exit_condition is required.` */
export function problemText(problem: WorkflowProblem, graph: Graph, kinds: Kinds): string {
  const kind = kinds.get(graph.nodes[problem.node ?? ""]?.type ?? "");
  const fields = asSchema(kind?.settings["properties"]) ?? {};
  const message = problem.message.replace(
    /^([a-z_]+)((?:\.\w+|\[\d+\])*)(?=[ :])/,
    (all, key: string, rest: string) => {
      const label = asSchema(fields[key])?.["title"];
      return typeof label === "string" ? `“${[label, ...(rest.match(/\w+/g) ?? [])].join(" · ")}”` : all;
    },
  );
  const words = [message, problem.hint].filter(Boolean).join(" ");
  return words.replace(
    /\b(output) [`']([^`']+)[`']/g,
    (_, word: string, output: string) => `${word} “${outputName(output)}”`,
  );
}

function outputName(output: string): string {
  return outputLabel(output) || output;
}

/** Whether the values that an edge brings fit where they are used: the host decides, by the rules it validates with;
 * how long its answer is awaited. */

import { run } from "../../../api/client";
import { fileOf, nameOf, type Edge, type Graph } from "../graph/file";
import { REFUSED } from "../text/edges";

/** Milliseconds; without an answer the edge is drawn, and the problem is listed as soon as the host answers. */
const PATIENCE = 5_000;

const asked = new WeakMap<Graph, Map<string, Answer>>();

interface Answer {
  /** Undefined until the host has answered. */
  reason: string | undefined;
  settled: Promise<string>;
}

/** Why the edge is refused, empty if it is not; undefined if the host has not been asked or not answered yet. */
export function knownMisfit(graph: Graph, edge: Edge): string | undefined {
  return asked.get(graph)?.get(keyOf(edge))?.reason;
}

/** Why the edge is refused, empty if it is not. Asked once for a graph and an edge. */
export function findMisfit(graph: Graph, edge: Edge): Promise<string> {
  const answers = asked.get(graph) ?? new Map<string, Answer>();
  asked.set(graph, answers);
  const known = answers.get(keyOf(edge));
  if (known) return known.settled;
  const answer: Answer = { reason: undefined, settled: ask(graph, edge) };
  answers.set(keyOf(edge), answer);
  void answer.settled.then((reason) => (answer.reason = reason));
  return answer.settled;
}

function keyOf(edge: Edge): string {
  return `${edge.from} ${edge.output} ${edge.to}`;
}

async function ask(graph: Graph, edge: Edge): Promise<string> {
  const params = { workflow: fileOf(graph), source: edge.from, output: edge.output, target: edge.to };
  try {
    const { problem } = await run("workflow_check_edge", params, AbortSignal.timeout(PATIENCE));
    return problem ? REFUSED.type(problem.node === null ? "" : nameOf(graph, problem.node), problem.message) : "";
  } catch {
    return ""; // The strip above the page says that the host is gone.
  }
}

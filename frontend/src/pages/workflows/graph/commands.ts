/** Changes to a workflow: add, insert, connect, remove, move and rename steps; ids of new steps and which ids are
 * allowed. Each returns a new one; none changes what it was given. Pure. */

import { ERROR, NEXT, newStep, RESERVED, type Edge, type Graph, type Point, type Settings, type Step } from "./file";
import { beginningOf, closesGroup, endOf, mainOutput, PAIRS, type Kinds } from "./kinds";
import { renamed } from "./references";
import { sameOutput } from "./rules";

export interface Place {
  /** The step and the output that the new step comes after. */
  after?: { id: string; output: string };
  at?: Point;
}

export interface Added {
  graph: Graph;
  id: string;
}

/** An id that is not used, such as `find_text_2`. */
export function freeId(graph: Graph, type: string): string {
  const base = snake(type) || "step";
  const taken = (id: string) => id in graph.nodes || RESERVED.has(id);
  if (!taken(base)) return base;
  let number = 2;
  while (taken(`${base}_${number}`)) number += 1;
  return `${base}_${number}`;
}

/** A name that no other step has: `If`, `If 2`. */
function freeName(graph: Graph, base: string): string {
  const taken = new Set(Object.values(graph.nodes).map((step) => step.name));
  let number = 1;
  while (taken.has(number === 1 ? base : `${base} ${number}`)) number += 1;
  return number === 1 ? base : `${base} ${number}`;
}

/** A name without the number that tells it from others: `If 2` is `If`. */
export function unnumbered(name: string): string {
  return name.replace(/ \d+$/, "");
}

/** Name a step after the tool that it calls, unless somebody has named it; its id is then changed too. */
export function nameAfterTool(graph: Graph, kinds: Kinds, id: string, before: string): Added {
  const step = graph.nodes[id];
  const tool = String(step?.settings["tool"] ?? "");
  const given = before ? ownName(before) : (kinds.get(step?.type ?? "")?.title ?? "");
  if (!step || !tool || tool.includes("{{") || unnumbered(step.name) !== unnumbered(given)) return { graph, id };
  const rest = { ...graph, nodes: Object.fromEntries(Object.entries(graph.nodes).filter(([other]) => other !== id)) };
  const renamed = changeStep(graph, id, { name: freeName(rest, ownName(tool)) });
  const base = snake(before ? ownName(before) : step.type);
  const wanted = freeId(rest, ownName(tool));
  const isOurs = id.replace(/_\d+$/, "") === base && idProblem(graph, wanted, id) === null;
  return isOurs ? { graph: renameStep(renamed, id, wanted), id: wanted } : { graph: renamed, id };
}

/** A tool's name without its server, in words: `Read text file`. */
function ownName(tool: string): string {
  const words = tool
    .replace(/^.*?__/, "")
    .replace(/[_-]+/g, " ")
    .trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function snake(type: string): string {
  return type
    .replace(/^Mcp/, "")
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/[^A-Za-z0-9]+/g, "_")
    .toLowerCase();
}

/** Add a step, between two others if one comes after the given place; a loop or map comes with its end. */
export function addStep(graph: Graph, kinds: Kinds, type: string, place: Place = {}, settings: Settings = {}): Added {
  const id = freeId(graph, type);
  const name = freeName(graph, kinds.get(type)?.title ?? type);
  const step = { ...newStep(type, settings, place.at ?? null), name };
  let next: Graph = { ...graph, nodes: { ...graph.nodes, [id]: step } };
  const pair = PAIRS[type];
  if (pair) next = withEnd(next, id, pair.end, pair.key, kinds.get(pair.end)?.title ?? pair.end);
  return { graph: place.after ? insertAfter(next, kinds, id, place.after) : next, id };
}

function withEnd(graph: Graph, begin: string, type: string, key: string, title: string): Graph {
  const end = freeId(graph, type);
  const at = graph.nodes[begin]?.position;
  const step = { ...newStep(type, { [key]: begin }, at ? [at[0], at[1] + 180] : null), name: freeName(graph, title) };
  return {
    ...graph,
    nodes: { ...graph.nodes, [end]: step },
    edges: [...graph.edges, { from: begin, to: end, output: "body" }],
  };
}

function insertAfter(graph: Graph, kinds: Kinds, id: string, after: { id: string; output: string }): Graph {
  const here: Edge = { from: after.id, to: id, output: after.output };
  const before = graph.edges.find((edge) => sameOutput(edge, here));
  const rest = graph.edges.filter((edge) => edge !== before);
  const step = graph.nodes[id] as Step;
  const output = mainOutput(step, kinds);
  const on = before && output !== null ? [{ from: id, to: before.to, output }] : [];
  return { ...graph, edges: [...rest, here, ...on] };
}

/** Connect an output; an edge that it had is replaced. */
export function connect(graph: Graph, edge: Edge): Graph {
  return { ...graph, edges: [...graph.edges.filter((one) => !sameOutput(one, edge)), edge] };
}

export function disconnect(graph: Graph, edge: Edge): Graph {
  return { ...graph, edges: graph.edges.filter((one) => !sameOutput(one, edge)) };
}

/** Remove steps; what came before each is connected to what came after it. */
export function removeSteps(graph: Graph, kinds: Kinds, ids: Iterable<string>): Graph {
  let next = graph;
  for (const id of ids) {
    const step = next.nodes[id];
    // The end of a group goes with its beginning.
    const begin = step && closesGroup(step) ? beginningOf(step) : null;
    if (begin === null || !next.nodes[begin]) next = removeOne(next, kinds, id);
  }
  return next;
}

function removeOne(graph: Graph, kinds: Kinds, id: string): Graph {
  const step = graph.nodes[id];
  if (!step) return graph;
  const end = step.type in PAIRS ? endOf(graph, id) : null;
  if (end !== null) return dissolve(graph, id, end);
  const output = mainOutput(step, kinds);
  const on = graph.edges.find((edge) => edge.from === id && edge.output === output)?.to ?? null;
  return bridged(without(graph, [id]), graph.edges, id, on);
}

/** Remove a loop or map and its end; what was inside stays, once. */
function dissolve(graph: Graph, begin: string, end: string): Graph {
  const on = (output: string) => graph.edges.find((edge) => edge.from === begin && edge.output === output)?.to ?? null;
  const done = on("done");
  const first = on("body");
  const rest = without(graph, [begin, end]);
  const closed = bridged(
    rest,
    graph.edges.filter((edge) => edge.from !== begin),
    end,
    done,
  );
  return bridged(closed, graph.edges, begin, first === end ? done : first);
}

/** Lead every edge that went to `gone` to another step, or nowhere. */
function bridged(graph: Graph, edges: readonly Edge[], gone: string, to: string | null): Graph {
  if (to === null || !graph.nodes[to]) return graph;
  const led = edges
    .filter((edge) => edge.to === gone && graph.nodes[edge.from] && edge.from !== to)
    .map((edge) => ({ ...edge, to }));
  return { ...graph, edges: [...graph.edges, ...led] };
}

function without(graph: Graph, ids: readonly string[]): Graph {
  const nodes = Object.fromEntries(Object.entries(graph.nodes).filter(([id]) => !ids.includes(id)));
  const edges = graph.edges.filter((edge) => !ids.includes(edge.from) && !ids.includes(edge.to));
  return { ...graph, nodes, edges };
}

export function changeStep(graph: Graph, id: string, change: Partial<Step>): Graph {
  const step = graph.nodes[id];
  return step ? { ...graph, nodes: { ...graph.nodes, [id]: { ...step, ...change } } } : graph;
}

/** New settings; edges from outputs that no longer exist, such as those of a removed case, go. */
export function changeSettings(graph: Graph, id: string, settings: Settings, outputs: readonly string[]): Graph {
  const next = changeStep(graph, id, { settings });
  const known = new Set([...outputs, ERROR]);
  return { ...next, edges: next.edges.filter((edge) => edge.from !== id || known.has(edge.output)) };
}

export function moveSteps(graph: Graph, places: ReadonlyMap<string, Point>): Graph {
  const nodes = Object.fromEntries(
    Object.entries(graph.nodes).map(([id, step]) => {
      const place = places.get(id);
      return [id, place ? { ...step, position: [Math.round(place[0]), Math.round(place[1])] as Point } : step];
    }),
  );
  return { ...graph, nodes };
}

/** Why an id cannot be used, as a key of the texts; null if it can. */
export function idProblem(graph: Graph, id: string, own: string): "shape" | "taken" | "reserved" | null {
  if (!/^[a-z][a-z0-9_]{0,63}$/.test(id)) return "shape";
  if (RESERVED.has(id)) return "reserved";
  return id !== own && id in graph.nodes ? "taken" : null;
}

/** Give a step another id; references and edges follow. */
export function renameStep(graph: Graph, from: string, to: string): Graph {
  if (from === to || !graph.nodes[from]) return graph;
  const nodes = Object.fromEntries(
    Object.entries(graph.nodes).map(([id, step]) => [id === from ? to : id, renamedStep(step, from, to)]),
  );
  const edges = graph.edges.map((edge) => ({
    ...edge,
    from: edge.from === from ? to : edge.from,
    to: edge.to === from ? to : edge.to,
  }));
  return { ...graph, nodes, edges, outputs: renamed(graph.outputs, from, to), checks: renamed(graph.checks, from, to) };
}

function renamedStep(step: Step, from: string, to: string): Step {
  const settings = renamed(step.settings, from, to);
  const checks = renamed(step.checks, from, to);
  const pair = Object.values(PAIRS).find((one) => one.end === step.type);
  if (pair && settings[pair.key] === from) return { ...step, checks, settings: { ...settings, [pair.key]: to } };
  return { ...step, settings, checks };
}

export { NEXT };

/** References in settings: which values of earlier steps are offered, how many and how deep, and what changes when an
 * id changes. Pure. */

import type { Graph, Settings } from "./file";
import { nameOf } from "./file";
import { edgesTo, groupOf, groupsOf } from "./groups";
import { isError, type Kinds } from "./kinds";
import { asSchema, resolve, typesOf, type Schema } from "../../../ui/schema-form/schema";
import { PICKER } from "../text/panel";

/** A value that a setting can refer to. */
export interface Offered {
  /** Without braces, such as `find.count`. */
  path: string;
  /** Of its last part, such as `count`. */
  name: string;
  type: string;
  about: string;
}

export interface Source {
  /** The id of a step, or `input`, `item`, `run`. */
  root: string;
  title: string;
  values: Offered[];
}

const DEEPEST = 3;
const MOST = 40;

/** Whether a text holds a reference; `\{{` is a brace that is meant literally. */
export function hasReference(text: string): boolean {
  return /(^|[^\\])\{\{/.test(text);
}

export function referenceTo(path: string): string {
  return `{{${path}}}`;
}

/** What a step may refer to: nearest steps first, then the item of a map, the inputs and the run. */
export function sourcesFor(graph: Graph, kinds: Kinds, id: string): Source[] {
  // The condition of a loop is checked after its body has run, so the loop has a value by then.
  const itself = graph.nodes[id]?.type === "Loop" ? [id] : [];
  const before = [...itself, ...stepsBefore(graph, id)];
  const failed = new Set(
    (edgesTo(graph).get(id) ?? []).filter((edge) => isError(edge.output)).map((edge) => edge.from),
  );
  const sources = before.map((step): Source => {
    const values = fieldsIn(resultOf(graph, kinds, step), step);
    const error = { path: `${step}.error.message`, name: "error.message", type: "string", about: PICKER.error };
    return { root: step, title: nameOf(graph, step), values: failed.has(step) ? [error, ...values] : values };
  });
  return [...sources, ...mapItem(graph, id), ...inputs(graph), runFacts()].filter((one) => one.values.length > 0);
}

/** The schema of what a step gives; the names of a Set step are its fields. */
function resultOf(graph: Graph, kinds: Kinds, id: string): Schema {
  const step = graph.nodes[id];
  const values = step?.type === "Set" ? asSchema(step.settings["values"]) : null;
  if (!values) return kinds.get(step?.type ?? "")?.result ?? {};
  return {
    properties: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { type: typeOf(value) }])),
  };
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (value !== null && typeof value === "object") return "object";
  return typeof value === "string" && hasReference(value) ? "any" : typeof value;
}

/** All steps on a way to this one, the nearest first. */
export function stepsBefore(graph: Graph, id: string): string[] {
  const to = edgesTo(graph);
  const found: string[] = [];
  const seen = new Set([id]);
  let near = [id];
  while (near.length > 0) {
    const sources = near.flatMap((one) => (to.get(one) ?? []).map((edge) => edge.from));
    near = [...new Set(sources)].filter((one) => !seen.has(one) && graph.nodes[one]);
    for (const one of near) seen.add(one);
    found.push(...near);
  }
  return found;
}

function mapItem(graph: Graph, id: string): Source[] {
  const groups = groupsOf(graph);
  let group = groupOf(groups, id);
  while (group && graph.nodes[group.begin]?.type !== "Map")
    group = group.parent ? (groups.get(group.parent) ?? null) : null;
  if (!group) return [];
  return [
    {
      root: "item",
      title: PICKER.item(nameOf(graph, group.begin)),
      values: [
        { path: "item", name: "item", type: "any", about: PICKER.itemAbout },
        { path: "index", name: "index", type: "integer", about: PICKER.indexAbout },
      ],
    },
  ];
}

function inputs(graph: Graph): Source[] {
  const values = Object.entries(graph.inputs).map(([name, one]) => ({
    path: `input.${name}`,
    name,
    type: one.type,
    about: one.description,
  }));
  return [{ root: "input", title: PICKER.inputs, values }];
}

function runFacts(): Source {
  return {
    root: "run",
    title: PICKER.run,
    values: [
      { path: "run.id", name: "id", type: "string", about: "" },
      { path: "run.started", name: "started", type: "string", about: "" },
    ],
  };
}

function fieldsIn(schema: Schema, root: string): Offered[] {
  const found: Offered[] = [];
  collect(schema, schema, root, 0, found);
  return found.slice(0, MOST);
}

function collect(schema: Schema, whole: Schema, path: string, depth: number, found: Offered[]): void {
  for (const [name, raw] of Object.entries(asSchema(schema["properties"]) ?? {})) {
    const field = resolve(raw, whole);
    const type = typesOf(field).join(" or ") || "any";
    const about = typeof field["description"] === "string" ? field["description"] : "";
    found.push({ path: `${path}.${name}`, name: `${path}.${name}`.split(".").slice(1).join("."), type, about });
    if (depth + 1 < DEEPEST) collect(field, whole, `${path}.${name}`, depth + 1, found);
  }
}

/** The same values with every reference to one step pointing to another. */
export function renamed<T>(value: T, from: string, to: string): T {
  if (typeof value === "string") return renamedIn(value, from, to) as T;
  if (Array.isArray(value)) return value.map((one: unknown) => renamed(one, from, to)) as T;
  if (value !== null && typeof value === "object") {
    const entries = Object.entries(value as Settings).map(([key, one]) => [key, renamed(one, from, to)]);
    return Object.fromEntries(entries) as T;
  }
  return value;
}

function renamedIn(text: string, from: string, to: string): string {
  return text.replace(/\{\{\s*([a-z][a-z0-9_]*)/g, (all, root: string) =>
    root === from ? all.replace(root, to) : all,
  );
}

/** The ids of the steps that a value refers to. */
export function rootsIn(value: unknown): Set<string> {
  const found = new Set<string>();
  const text = typeof value === "string" ? value : JSON.stringify(value ?? null);
  for (const [, root = ""] of text.matchAll(/\{\{\s*([a-z][a-z0-9_]*)/g)) found.add(root);
  return found;
}

/** A workflow as its file holds it, with every key present: defaults of steps, checks, retries, inputs and options.
 * Pure. */

export type Settings = Record<string, unknown>;
export type Point = readonly [x: number, y: number];

export interface Check {
  type: "text_present" | "text_absent" | "image_found" | "window_title" | "condition";
  value: unknown;
  app_name: string | null;
  on_fail: "fail" | "warn";
}

export interface Retry {
  attempts: number;
  delay: number;
  factor: number;
  longest: number;
}

export interface Step {
  type: string;
  /** Shown to users; the id if empty. */
  name: string;
  settings: Settings;
  enabled: boolean;
  timeout: number | null;
  retry: Retry | null;
  settle: number;
  checks: readonly Check[];
  trace: "full" | "minimal" | "off";
  position: Point | null;
}

export interface Edge {
  from: string;
  to: string;
  output: string;
}

export interface Parameter {
  type: "string" | "number" | "integer" | "boolean" | "array" | "object";
  description: string;
  required: boolean;
  default: unknown;
  choices: readonly unknown[];
  secret: boolean;
}

export interface Options {
  desktop: string;
  model: string | null;
  timeout: number | null;
  concurrency: number | null;
  most_steps: number;
  question_deadline: number | null;
  /** Offered as a tool to agents and to clients of the gateway. */
  tool: boolean;
}

export interface Trigger {
  type: "schedule" | "webhook" | "folder";
  settings: Settings;
  input: Settings;
}

export interface Graph {
  name: string;
  description: string;
  inputs: Readonly<Record<string, Parameter>>;
  nodes: Readonly<Record<string, Step>>;
  edges: readonly Edge[];
  outputs: Readonly<Record<string, unknown>>;
  checks: readonly Check[];
  options: Options;
  triggers: readonly Trigger[];
}

export const NEXT = "next";
export const ERROR = "error";
/** Names that references use; no step may have one as its id. */
export const RESERVED: ReadonlySet<string> = new Set(["input", "item", "index", "run"]);

const CHECK: Check = { type: "text_present", value: null, app_name: null, on_fail: "fail" };
const STEP: Step = {
  type: "",
  name: "",
  settings: {},
  enabled: true,
  timeout: null,
  retry: null,
  settle: 0,
  checks: [],
  trace: "full",
  position: null,
};
const OPTIONS: Options = {
  desktop: "desktop",
  model: null,
  timeout: null,
  concurrency: null,
  most_steps: 10_000,
  question_deadline: null,
  tool: false,
};
const PARAMETER: Parameter = {
  type: "string",
  description: "",
  required: true,
  default: null,
  choices: [],
  secret: false,
};
export const RETRY: Retry = { attempts: 3, delay: 1, factor: 2, longest: 300 };

export function emptyGraph(name: string): Graph {
  return {
    name,
    description: "",
    inputs: {},
    nodes: {},
    edges: [],
    outputs: {},
    checks: [],
    options: OPTIONS,
    triggers: [],
  };
}

/** What a file says, with the defaults of what it leaves out. */
export function readGraph(raw: unknown): Graph {
  const file = object(raw);
  return {
    name: String(file["name"] ?? ""),
    description: String(file["description"] ?? ""),
    inputs: each(file["inputs"], (one) => ({ ...PARAMETER, ...one }) as Parameter),
    nodes: each(file["nodes"], readStep),
    edges: list(file["edges"]).map(readEdge),
    outputs: object(file["outputs"]),
    checks: list(file["checks"]).map(readCheck),
    options: { ...OPTIONS, ...object(file["options"]) },
    triggers: list(file["triggers"]).map((one) => ({ settings: {}, input: {}, ...object(one) }) as unknown as Trigger),
  };
}

/** As it is saved; the host leaves out what is a default. */
export function fileOf(graph: Graph): Record<string, unknown> {
  return { format: 1, ...graph };
}

export function newStep(type: string, settings: Settings = {}, position: Point | null = null): Step {
  return { ...STEP, type, settings, position };
}

export function newParameter(): Parameter {
  return PARAMETER;
}

export function newCheck(): Check {
  return CHECK;
}

/** What users read: the step's name, or its id. */
export function nameOf(graph: Graph, id: string): string {
  return graph.nodes[id]?.name || id;
}

function readStep(raw: Settings): Step {
  return {
    ...STEP,
    ...raw,
    settings: object(raw["settings"]),
    retry: raw["retry"] ? { ...RETRY, ...object(raw["retry"]) } : null,
    checks: list(raw["checks"]).map(readCheck),
  } as Step;
}

function readCheck(raw: unknown): Check {
  return { ...CHECK, ...object(raw) } as Check;
}

/** The file says `from` and `to`; a program may have used the model's own names. */
function readEdge(raw: unknown): Edge {
  const edge = object(raw);
  return {
    from: String(edge["from"] ?? edge["source"] ?? ""),
    to: String(edge["to"] ?? edge["target"] ?? ""),
    output: String(edge["output"] ?? NEXT),
  };
}

function each<T>(raw: unknown, read: (one: Settings) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(object(raw)).map(([name, one]) => [name, read(object(one))]));
}

function object(raw: unknown): Settings {
  return raw !== null && typeof raw === "object" && !Array.isArray(raw) ? (raw as Settings) : {};
}

function list(raw: unknown): unknown[] {
  return Array.isArray(raw) ? raw : [];
}

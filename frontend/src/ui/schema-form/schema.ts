/** A JSON Schema as fields of a form: which kind of field each gets, and names of arguments that get a large one
 * (body, code …). Pure. */

export type Schema = Record<string, unknown>;
export type Kind = "text" | "long" | "number" | "integer" | "switch" | "choice" | "list" | "json";

export interface Choice {
  value: unknown;
  name: string;
}

export interface Field {
  name: string;
  title: string;
  description: string;
  kind: Kind;
  required: boolean;
  choices: Choice[];
  schema: Schema;
  /** Of a list, what an item is. */
  item: "text" | "number" | "integer" | null;
  fallback: unknown;
}

/** The content of a field: text, a switch, or untouched. */
export type Draft = string | boolean | undefined;
export type Drafts = Record<string, Draft>;

export function fieldsOf(root: Schema): Field[] {
  const properties = asSchema(root["properties"]) ?? {};
  const required = new Set(Array.isArray(root["required"]) ? root["required"].map(String) : []);
  return Object.entries(properties).map(([name, raw]) => fieldOf(name, resolve(raw, root), root, required.has(name)));
}

function fieldOf(name: string, schema: Schema, root: Schema, required: boolean): Field {
  const choices = choicesOf(schema);
  const item = itemOf(schema, root);
  return {
    name,
    title: text(schema["title"]),
    description: text(schema["description"]),
    kind: kindOf(name, schema, choices, item),
    required,
    choices,
    schema,
    item,
    fallback: schema["default"],
  };
}

/** The schema behind local references; of a value that may be null, what it is otherwise. */
export function resolve(raw: unknown, root: Schema, depth = 0): Schema {
  const schema = asSchema(raw) ?? {};
  if (depth > 8) return {};
  const reference = schema["$ref"];
  if (typeof reference === "string")
    return resolve({ ...asSchema(follow(reference, root)), ...without(schema, "$ref") }, root, depth + 1);
  for (const key of ["anyOf", "oneOf", "allOf"]) {
    const branches = Array.isArray(schema[key]) ? schema[key] : [];
    const real = branches.filter((one) => asSchema(one)?.["type"] !== "null");
    if (real.length === 1) return resolve({ ...asSchema(real[0]), ...without(schema, key) }, root, depth + 1);
  }
  return schema;
}

function follow(reference: string, root: Schema): unknown {
  if (!reference.startsWith("#/")) return {};
  let found: unknown = root;
  for (const part of reference.slice(2).split("/")) {
    found = asSchema(found)?.[part.replaceAll("~1", "/").replaceAll("~0", "~")];
  }
  return found;
}

function kindOf(name: string, schema: Schema, choices: Choice[], item: Field["item"]): Kind {
  if (choices.length > 0) return "choice";
  const types = typesOf(schema);
  if (types.length !== 1) return "json";
  const [type] = types;
  if (type === "boolean") return "switch";
  if (type === "number" || type === "integer") return type;
  if (type === "array") return item ? "list" : "json";
  if (type !== "string") return "json";
  const longest = schema["maxLength"];
  return LONG.test(name) && !(typeof longest === "number" && longest <= 200) ? "long" : "text";
}

const LONG = /(^|_)(content|contents|body|text|code|script|prompt|message|sql|markdown|html)$/i;

export function typesOf(schema: Schema): string[] {
  const stated = schema["type"];
  const types = typeof stated === "string" ? [stated] : Array.isArray(stated) ? stated.map(String) : [];
  return types.filter((one) => one !== "null");
}

function itemOf(schema: Schema, root: Schema): Field["item"] {
  const items = resolve(schema["items"], root);
  const [type, ...others] = typesOf(items);
  if (others.length > 0) return null;
  if (type === "string") return "text";
  return type === "number" || type === "integer" ? type : null;
}

function choicesOf(schema: Schema): Choice[] {
  if (Array.isArray(schema["enum"])) {
    const names = asSchema(schema["x-names"]) ?? {};
    return schema["enum"].map((value) => ({ value, name: text(names[named(value)]) || named(value) }));
  }
  if ("const" in schema) return [{ value: schema["const"], name: named(schema["const"]) }];
  const branches = Array.isArray(schema["oneOf"])
    ? schema["oneOf"]
    : Array.isArray(schema["anyOf"])
      ? schema["anyOf"]
      : [];
  if (branches.length === 0 || !branches.every((one) => asSchema(one) && "const" in (one as Schema))) return [];
  return branches.map((one) => {
    const branch = one as Schema;
    return { value: branch["const"], name: text(branch["title"]) || named(branch["const"]) };
  });
}

export function named(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

export function asSchema(value: unknown): Schema | null {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? (value as Schema) : null;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function without(schema: Schema, key: string): Schema {
  const { [key]: _gone, ...rest } = schema;
  return rest;
}

/** A part of a tool's definition as text, so that two of them can be held against each other. */

export function asJson(part: string, value: unknown): string {
  return `${part}: ${value === undefined || value === null ? "" : JSON.stringify(value, null, 2)}`;
}

/** A description by its sentences, a schema by its fields; anything else as JSON. */
export function asWords(part: string, value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value.replace(/([.!?])\s+/g, "$1\n");
  if (/schema/i.test(part) && typeof value === "object") return [`${part}.properties`, ...fields(value)].join("\n");
  return asJson(part, value);
}

interface Schema {
  properties?: Record<string, Record<string, unknown>>;
  required?: string[];
}

function fields(schema: Schema): string[] {
  const names = Object.keys(schema.properties ?? {});
  const width = Math.max(0, ...names.map((name) => name.length));
  return names.map((name) => `  ${name.padEnd(width)}  ${field(schema.properties?.[name] ?? {}, schema.required?.includes(name) ?? false)}`);
}

function field(schema: Record<string, unknown>, required: boolean): string {
  const kind = typeof schema["type"] === "string" ? schema["type"] : "any";
  const rest = required ? "required" : "default" in schema ? `default ${JSON.stringify(schema["default"])}` : "optional";
  const about = typeof schema["description"] === "string" ? `: ${schema["description"]}` : "";
  return `${kind}, ${rest}${about}`;
}

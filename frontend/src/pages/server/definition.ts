/** A part of a tool's definition as text or JSON, so that the old and the new one can be compared line by line.
 * Pure. */

export function asJson(part: string, value: unknown): string {
  return `${part}: ${value === undefined || value === null ? "" : JSON.stringify(value, null, 2)}`;
}

/** A description by its lines, a schema by its fields; anything else as JSON. */
export function asText(part: string, value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  if (/schema/i.test(part) && typeof value === "object") return schemaText(part, value as Schema);
  return asJson(part, value);
}

interface Schema {
  properties?: Record<string, Record<string, unknown>>;
  required?: string[];
}

/** Every field on its own line, followed by the rest of the schema. */
function schemaText(part: string, schema: Schema): string {
  const { properties = {}, required = [], ...others } = schema as Schema & Record<string, unknown>;
  const names = Object.keys(properties);
  const width = Math.max(0, ...names.map((name) => name.length));
  const fields = names.map(
    (name) => `  ${name.padEnd(width)}  ${field(properties[name] ?? {}, required.includes(name))}`,
  );
  const rest = Object.entries(others).filter(
    ([key, value]) => !(key === "type" && value === "object") && key !== "$schema",
  );
  return [
    `${part}.properties`,
    ...fields,
    ...rest.map(([key, value]) => `${part}.${key}: ${JSON.stringify(value)}`),
  ].join("\n");
}

function field(schema: Record<string, unknown>, required: boolean): string {
  const { type, default: usual, description, ...others } = schema;
  const kind = typeof type === "string" ? type : type === undefined ? "any" : JSON.stringify(type);
  const rest = required ? "required" : usual !== undefined ? `default ${JSON.stringify(usual)}` : "optional";
  const about = typeof description === "string" ? `: ${description}` : "";
  const more = Object.entries(others)
    .filter(([key]) => key !== "title")
    .map(([key, value]) => `, ${key} ${JSON.stringify(value)}`);
  return `${kind}, ${rest}${more.join("")}${about}`;
}

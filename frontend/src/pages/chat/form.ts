/** A form from the flat schemas that servers may ask with: text, numbers, yes or no, one of several; initial values
 * and error messages. Pure. */

export interface Field {
  type?: string;
  title?: string;
  description?: string;
  default?: unknown;
  enum?: unknown[];
  enumNames?: string[];
  oneOf?: { const: unknown; title?: string }[];
  items?: { enum?: unknown[]; anyOf?: { const: unknown; title?: string }[] };
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
}

export interface Fields {
  properties?: Record<string, Field>;
  required?: string[];
}

export interface Choice {
  value: string;
  name: string;
}

export function choices(field: Field): Choice[] {
  if (field.oneOf)
    return field.oneOf.map((one) => ({ value: String(one.const), name: one.title ?? String(one.const) }));
  return (field.enum ?? []).map((value, index) => ({
    value: String(value),
    name: field.enumNames?.[index] ?? String(value),
  }));
}

export function startValues(schema: Fields): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    if (field.default !== undefined) values[name] = field.default;
    else if (field.type === "boolean") values[name] = false;
    else if (choices(field).length > 0 && schema.required?.includes(name)) values[name] = choices(field)[0]?.value;
  }
  return values;
}

export function wrongValues(schema: Fields, values: Record<string, unknown>): Record<string, string> {
  const wrong: Record<string, string> = {};
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const told = wrongValue(field, values[name], schema.required?.includes(name) ?? false);
    if (told) wrong[name] = told;
  }
  return wrong;
}

function wrongValue(field: Field, value: unknown, required: boolean): string {
  if (value === undefined || value === "") return required ? "Required." : "";
  if (field.type === "number" || field.type === "integer") return wrongNumber(field, value);
  if (typeof value !== "string") return "";
  if (field.minLength !== undefined && value.length < field.minLength) return `At least ${field.minLength} characters.`;
  if (field.maxLength !== undefined && value.length > field.maxLength) return `At most ${field.maxLength} characters.`;
  return "";
}

function wrongNumber(field: Field, value: unknown): string {
  if (typeof value !== "number" || Number.isNaN(value)) return "Enter a number.";
  if (field.type === "integer" && !Number.isInteger(value)) return "Enter a whole number.";
  if (field.minimum !== undefined && value < field.minimum) return `At least ${field.minimum}.`;
  if (field.maximum !== undefined && value > field.maximum) return `At most ${field.maximum}.`;
  return "";
}

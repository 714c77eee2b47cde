/** What was typed into the fields of a schema, as arguments, with the checks of numbers, lengths, patterns and JSON.
 * Error messages are in `text.ts`. Pure. */

import { asSchema, named, typesOf, type Draft, type Drafts, type Field } from "./schema";
import { TEXT } from "./text";

export interface Reading {
  values: Record<string, unknown>;
  wrong: Record<string, string>;
}

const NOTHING = Symbol("nothing");

class Wrong extends Error {}

export function readDrafts(fields: readonly Field[], drafts: Drafts): Reading {
  const values: Record<string, unknown> = {};
  const wrong: Record<string, string> = {};
  for (const field of fields) {
    try {
      const value = read(field, drafts[field.name]);
      if (value !== NOTHING) values[field.name] = value;
      else if (field.required) wrong[field.name] = TEXT.needed;
    } catch (error) {
      if (!(error instanceof Wrong)) throw error;
      wrong[field.name] = error.message;
    }
  }
  return { values, wrong };
}

/** What a field shows for a value, such as a default or one that was used before. */
export function draftOf(field: Field, value: unknown): Draft {
  if (value === undefined || value === null) return undefined;
  if (field.kind === "switch") return value === true;
  if (field.kind === "list" && Array.isArray(value)) return value.map(named).join("\n");
  if (field.kind === "json") return typeof value === "string" ? value : JSON.stringify(value, null, 2);
  return named(value);
}

function read(field: Field, draft: Draft): unknown {
  if (field.kind === "switch")
    return typeof draft === "boolean" ? draft : field.required ? field.fallback === true : NOTHING;
  const text = typeof draft === "string" ? draft : "";
  if (text === "") return NOTHING;
  switch (field.kind) {
    case "number":
    case "integer":
      return number(field, text);
    case "choice":
      return choice(field, text);
    case "list":
      return list(field, text);
    case "json":
      return json(field, text);
    default:
      return plain(field, text);
  }
}

function plain(field: Field, text: string): string {
  const { minLength, maxLength, pattern } = field.schema;
  if (typeof minLength === "number" && text.length < minLength) throw new Wrong(TEXT.tooShort(minLength));
  if (typeof maxLength === "number" && text.length > maxLength) throw new Wrong(TEXT.tooLong(maxLength));
  if (typeof pattern === "string" && !fits(pattern, text)) throw new Wrong(patternText(pattern, text));
  return text;
}

/** What to try instead, where a small change is all that is wanted. */
function patternText(pattern: string, text: string): string {
  const words = text.trim().split(/\s+/);
  const close = [words.join("-"), words.join("_"), words.join("")].find((one) => one !== text && fits(pattern, one));
  if (close !== undefined) return TEXT.noSpaces(close);
  const small = text.toLowerCase();
  return small !== text && fits(pattern, small) ? TEXT.small(small) : TEXT.pattern(pattern);
}

function fits(pattern: string, text: string): boolean {
  try {
    return new RegExp(pattern, "u").test(text);
  } catch {
    return true; // A pattern that this browser cannot read; the host checks it.
  }
}

function number(field: Field, text: string): number {
  const whole = field.kind === "integer";
  const value = Number(text.trim().replace(",", "."));
  if (text.trim() === "" || !Number.isFinite(value)) throw new Wrong(whole ? TEXT.wholeNumber : TEXT.number);
  if (whole && !Number.isInteger(value)) throw new Wrong(TEXT.wholeNumber);
  const least = bound(field, "minimum");
  const most = bound(field, "maximum");
  if (least !== null && most !== null && (value < least || value > most)) throw new Wrong(TEXT.between(least, most));
  if (least !== null && value < least) throw new Wrong(TEXT.least(least));
  if (most !== null && value > most) throw new Wrong(TEXT.most(most));
  return value;
}

function bound(field: Field, key: string): number | null {
  const value = field.schema[key];
  return typeof value === "number" ? value : null;
}

function choice(field: Field, text: string): unknown {
  const found = field.choices.find((one) => named(one.value) === text);
  if (!found) throw new Wrong(TEXT.oneOf(field.choices.map((one) => one.name)));
  return found.value;
}

function list(field: Field, text: string): unknown[] {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  const { minItems, maxItems } = field.schema;
  if (typeof minItems === "number" && lines.length < minItems) throw new Wrong(TEXT.fewest(minItems));
  if (typeof maxItems === "number" && lines.length > maxItems) throw new Wrong(TEXT.mostItems(maxItems));
  if (field.item === "text") return lines;
  return lines.map((line) => {
    const value = Number(line);
    if (!Number.isFinite(value) || (field.item === "integer" && !Number.isInteger(value)))
      throw new Wrong(TEXT.numbersOnly(line));
    return value;
  });
}

function json(field: Field, text: string): unknown {
  const types = typesOf(field.schema);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (types.length === 0 || types.includes("string")) return text;
    throw new Wrong(TEXT.noJson(error instanceof Error ? error.message : ""));
  }
  if (types.length === 1 && types[0] === "object" && !asSchema(value)) throw new Wrong(TEXT.object);
  if (types.length === 1 && types[0] === "array" && !Array.isArray(value)) throw new Wrong(TEXT.array);
  return value;
}

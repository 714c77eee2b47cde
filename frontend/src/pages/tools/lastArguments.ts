/** Fills the form of a tool with the arguments of its last recorded try; masked and cut values are left out. Pure. */

import { draftOf } from "../../ui/schema-form/drafts";
import type { Drafts, Field } from "../../ui/schema-form/schema";

const MASK = "***";
const CUT = 500; // Longer values are not whole in the record.

/** The fields as they were filled in then; what the record masked or cut stays as it would be without it. */
export function draftsFrom(fields: readonly Field[], recorded: string): Drafts {
  const given = read(recorded);
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value = given[field.name];
      return value === undefined || !isWhole(value) ? [] : [[field.name, draftOf(field, value)]];
    }),
  );
}

function isWhole(value: unknown): boolean {
  const text = JSON.stringify(value);
  return !text.includes(MASK) && text.length < CUT;
}

function read(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === "object" && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : {};
  } catch {
    return {}; // Cut.
  }
}

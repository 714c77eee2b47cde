/** Texts of forms made from schemas: kinds of values ("whole number"), error messages, defaults. */

import { plural } from "../amounts";
import type { Field } from "./schema";

const KINDS: Record<Field["kind"], string> = {
  text: "text",
  long: "text",
  number: "number",
  integer: "whole number",
  switch: "yes or no",
  choice: "one of these",
  list: "list, one per line",
  json: "JSON",
};

export const TEXT = {
  needed: "Required.",
  number: "Enter a number, such as 3.5.",
  wholeNumber: "Enter a whole number, such as 3.",
  tooShort: (least: number) => `At least ${plural(least, "character")}.`,
  tooLong: (most: number) => `At most ${plural(most, "character")}.`,
  noSpaces: (instead: string) => `Spaces are not allowed. Try ${instead}`,
  small: (instead: string) => `Use lowercase letters. Try ${instead}`,
  pattern: (pattern: string) => `Must match ${pattern}`,
  between: (least: number, most: number) => `Between ${least} and ${most}.`,
  least: (least: number) => `At least ${least}.`,
  most: (most: number) => `At most ${most}.`,
  oneOf: (names: string[]) => `One of ${names.join(", ")}.`,
  fewest: (least: number) => `At least ${plural(least, "item")}.`,
  mostItems: (most: number) => `At most ${plural(most, "item")}.`,
  numbersOnly: (line: string) => `“${line}” is not a number.`,
  noJson: (why: string) => `Not valid JSON. ${why}`,
  object: "Enter an object: { … }",
  array: "Enter a list: [ … ]",
  none: "No arguments.",
  leaveOut: "not set",
};

/** What a field is called: its title, else its name in words. */
export function labelOf(field: Field): string {
  if (field.title) return field.title;
  const words = field.name
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .replaceAll("_", " ")
    .trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** `text, required`; `yes or no, no by default`. */
export function about(field: Field): string {
  const item = field.kind === "list" && field.item !== "text" ? "numbers, one per line" : KINDS[field.kind];
  if (field.required) return `${item}, required`;
  if (field.kind === "switch") return `${item}, ${field.fallback === true ? "yes" : "no"} by default`;
  if (field.fallback !== undefined && field.fallback !== null && field.fallback !== "") {
    const shown = typeof field.fallback === "string" ? field.fallback : JSON.stringify(field.fallback);
    return `${item}, ${shown.length > 40 ? "has a default" : `default ${shown}`}`;
  }
  return item;
}

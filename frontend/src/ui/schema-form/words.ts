/** The words of forms that are made from schemas. */

import type { Field } from "./schema";

const KINDS: Record<Field["kind"], string> = {
  text: "text",
  long: "text",
  number: "number",
  integer: "whole number",
  switch: "yes or no",
  choice: "one of these",
  list: "list, one a line",
  json: "JSON",
};

export const WORDS = {
  needed: "This is needed.",
  number: "A number, such as 3.5.",
  wholeNumber: "A whole number, such as 3.",
  tooShort: (least: number) => `At least ${least} characters.`,
  tooLong: (most: number) => `At most ${most} characters.`,
  noSpaces: (instead: string) => `It has no spaces. Try ${instead}`,
  small: (instead: string) => `Small letters only. Try ${instead}`,
  pattern: (pattern: string) => `It must look like ${pattern}`,
  between: (least: number, most: number) => `Between ${least} and ${most}.`,
  least: (least: number) => `At least ${least}.`,
  most: (most: number) => `At most ${most}.`,
  oneOf: (names: string[]) => `One of ${names.join(", ")}.`,
  fewest: (least: number) => `At least ${least} of them.`,
  mostItems: (most: number) => `At most ${most} of them.`,
  numbersOnly: (line: string) => `“${line}” is no number.`,
  noJson: (why: string) => `This is no JSON. ${why}`,
  object: "An object: { … }",
  array: "A list: [ … ]",
  none: "It takes nothing.",
  leaveOut: "leave out",
};

/** `text, required`; `yes or no, no unless you say so`. */
export function about(field: Field): string {
  const item = field.kind === "list" && field.item !== "text" ? "numbers, one a line" : KINDS[field.kind];
  if (field.required) return `${item}, required`;
  if (field.kind === "switch") return `${item}, ${field.fallback === true ? "yes" : "no"} unless you say so`;
  if (field.fallback !== undefined && field.fallback !== null && field.fallback !== "") {
    const shown = typeof field.fallback === "string" ? field.fallback : JSON.stringify(field.fallback);
    return `${item}, ${shown.length > 40 ? "has a default" : `${shown} unless you say so`}`;
  }
  return item;
}

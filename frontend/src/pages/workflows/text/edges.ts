/** Texts about outputs and edges: labels such as "yes", "on error", "each time", why two steps cannot be connected,
 * and texts of the canvas. */

import { plural } from "../../../ui/amounts";

const OUTPUTS: Record<string, string> = {
  true: "yes",
  false: "no",
  error: "on error",
  default: "otherwise",
  body: "each time",
  done: "then",
  next: "",
};

/** An output as the label of an edge. */
export function outputLabel(output: string): string {
  return OUTPUTS[output] ?? output;
}

/** Why two steps cannot be connected. */
export const REFUSED = {
  gone: "This step no longer exists.",
  itself: "A step cannot follow itself. Put it in a Loop to repeat it.",
  already: "These two are already connected.",
  fromEnd: (name: string) => `Nothing follows “${name}”. Connect the output “then” of its loop.`,
  noOutput: (name: string, output: string) => `“${name}” has no output “${output}”.`,
  circle: (target: string, source: string) =>
    `“${target}” runs before “${source}”, so this would never end. Use a Loop to repeat steps.`,
  into: (step: string, group: string) =>
    `“${step}” is inside “${group}”. Only the output “each time” of “${group}” leads in.`,
  outOf: (group: string, end: string) =>
    end
      ? `This leaves “${group}”. Connect to “${end}”, and go on from the output “then” of “${group}”.`
      : `This leaves “${group}”, which has no end.`,
  type: (step: string, problem: string) => (step ? `“${step}”: ${problem}` : problem),
};

export const CANVAS = {
  label: (count: number) => `Canvas, ${plural(count, "step")}. Press L for the list.`,
  zoomIn: "Zoom in",
  zoomOut: "Zoom out",
  fit: "Fit",
  reset: "show at actual size",
  empty: "Add the first step: drag one here, or press n.",
  gives: (fields: string) => `Gives ${fields}`,
  givesNothing: "Gives no values",
  breakpoint: "Pauses before this step",
  off: "Turned off",
  atOnce: (count: number) => (count === 1 ? "one at a time" : `${count} at a time`),
  items: (working: readonly number[]) => `item ${working.slice(0, 3).join(" and ")}`,
};

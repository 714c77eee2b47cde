/** Why a tool is offered, in words. Pure. */

import type { OfferedTool } from "./view";

const PLAIN: Record<string, string> = {
  match: "Close in meaning to the question",
  "always on": "Always on",
  "just used": "Just used in this chat",
  pinned: "You pinned it here",
  "there are few tools": "There are few tools, so all are offered",
};

export function whyWords(why: string): string {
  const [kind = "", ...rest] = why.replaceAll("_", " ").split(": ");
  const said = rest.join(": ");
  if (kind === "match" && said) return `${said.split(", ").map((word) => `“${word}”`).join(", ")} in its description`;
  if (kind === "sought") return `The model looked for “${said}”`;
  return PLAIN[kind] ?? why.slice(0, 1).toUpperCase() + why.slice(1);
}

/** Offered whatever was asked. */
export function isAlways(why: string): boolean {
  return /^(always|pinned)/i.test(why);
}

/** Those that the question brought stand before those that are always there. */
export function foundFirst(tools: readonly OfferedTool[]): OfferedTool[] {
  return [...tools.filter((tool) => !isAlways(tool.why)), ...tools.filter((tool) => isAlways(tool.why))];
}

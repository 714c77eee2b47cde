/** Why a tool is offered, in words ("Similar in meaning to your message"), whether all fit, and the order of offered
 * tools. Pure. */

import type { OfferedTool } from "./view";

/** The host's reason for offering every tool. */
const ALL_FIT = "there are few tools";

const PLAIN: Record<string, string> = {
  match: "Similar in meaning to your message",
  "always on": "Always on",
  "just used": "Just used in this chat",
  pinned: "Pinned by you",
  [ALL_FIT]: "",
};

export function whyText(why: string): string {
  const [kind = "", ...rest] = why.replaceAll("_", " ").split(": ");
  const said = rest.join(": ");
  if (kind === "match" && said)
    return `${said
      .split(", ")
      .map((word) => `“${word}”`)
      .join(", ")} in its description`;
  if (kind === "sought") return `The model searched for “${said}”`;
  return PLAIN[kind] ?? why.slice(0, 1).toUpperCase() + why.slice(1);
}

/** Whether nothing was chosen: all tools fit. */
export function allFit(tools: readonly OfferedTool[]): boolean {
  return tools.length > 0 && tools.every((tool) => tool.why === ALL_FIT);
}

/** Offered whatever was asked. */
export function isAlways(why: string): boolean {
  return /^(always|pinned)/i.test(why);
}

/** Tools that match the message come before those that are always on. */
export function foundFirst(tools: readonly OfferedTool[]): OfferedTool[] {
  return [...tools.filter((tool) => !isAlways(tool.why)), ...tools.filter((tool) => isAlways(tool.why))];
}

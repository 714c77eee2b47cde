/** What a profile shows, in numbers and words: which tools it includes, "12 tools (read-only)", the end of its
 * token. */

import type { ProfileShown, ToolInfo } from "../../api/types";
import { plural, thousands, tokens } from "../../ui/amounts";
import { MODE_NAMES } from "../../text/modes";
import { TEXT } from "./text";

/** True for a tool that clients of the view see. */
export function shows(view: ProfileShown, tool: ToolInfo): boolean {
  if (!tool.enabled) return false;
  if (view.servers.length && !view.servers.includes(tool.server ?? "")) return false;
  if (view.tools.length && !view.tools.some((pattern) => fits(pattern, tool.name))) return false;
  return !view.read_only || tool.annotations?.["readOnlyHint"] === true;
}

/** Shell patterns, as the config file has them. */
export function fits(pattern: string, name: string): boolean {
  const source = pattern
    .replace(/[.+^${}()|\\]/g, "\\$&")
    .replace(/\*/g, ".*")
    .replace(/\?/g, ".");
  return new RegExp(`^${source}$`).test(name);
}

export function viewName(view: { name: string }): string {
  return view.name || TEXT.whole;
}

export function about(view: ProfileShown, tools: readonly ToolInfo[]): string {
  if (!view.name) return `the full list, ${tokens(sum(tools))}`;
  if (view.search) return "the best matches for each question";
  if (view.read_only) return "read-only tools";
  if (view.servers.length) return view.servers.join(", ");
  return "selected tools";
}

export function mayUse(view: ProfileShown, tools: readonly ToolInfo[]): string {
  const shown = tools.filter((tool) => shows(view, tool));
  const amount = plural(shown.length, "tool");
  const how = view.search ? " through search" : view.read_only ? " (read-only)" : "";
  return `${amount}${how}, ${MODE_NAMES[view.mode]}`;
}

/** How many of the tools of a view a client has before it: of one to be searched, those for a question. */
export function offeredOf(view: ProfileShown, tools: readonly ToolInfo[]): string {
  const shown = tools.filter((tool) => shows(view, tool));
  if (!view.search) return `${thousands(shown.length)} of ${thousands(tools.length)}`;
  const always = shown.filter((tool) => view.always_on.some((pattern) => fits(pattern, tool.name))).length;
  return `${thousands(Math.min(view.k + always, shown.length))} of ${thousands(shown.length)}`;
}

/** What can be told of a view's token. */
export function tokenText(view: ProfileShown): string {
  if (!view.token) return TEXT.none;
  return view.token_tail ? `tcrib_…${view.token_tail}` : TEXT.set;
}

function sum(tools: readonly ToolInfo[]): number {
  return tools.reduce((total, tool) => total + tool.tokens, 0);
}

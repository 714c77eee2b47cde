/** What a profile shows, in numbers and in words. */

import type { ProfileShown, ToolInfo } from "../../api/types";
import { count, plural } from "../../ui/amounts";

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
  return view.name || "all tools";
}

export function about(view: ProfileShown, tools: readonly ToolInfo[]): string {
  if (!view.name) return `the whole list, ${count(sum(tools))} tokens`;
  if (view.search) return "the right few for each question";
  if (view.read_only) return "nothing that writes or sends";
  if (view.servers.length) return view.servers.join(", ");
  return "a part of the crib";
}

export function mayUse(view: ProfileShown, tools: readonly ToolInfo[]): string {
  const shown = tools.filter((tool) => shows(view, tool));
  const amount = plural(shown.length, "tool");
  if (view.search) return `${amount} through search`;
  return view.read_only ? `${amount} that ${shown.length === 1 ? "reads" : "read"}` : amount;
}

function sum(tools: readonly ToolInfo[]): number {
  return tools.reduce((total, tool) => total + tool.tokens, 0);
}

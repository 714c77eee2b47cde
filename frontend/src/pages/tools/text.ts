/** Texts of the Tools page: search, ranking, tags of tools, "Try it", schema, empty lists. */

import type { RankedTool, Ranking, ShelfTool, ToolsFound } from "../../api/types";
import { count, plural, thousands } from "../../ui/amounts";

export const TEXT = {
  title: "Tools",
  hint: "Enter a question to see which tools a model would be offered.",
  search: "Search tools or enter a question",
  asQuestion: "As a question",
  byName: "By name",
  searchAs: "How to search",
  settings: "Settings",
  ranking: "Ranking for this question",
  everything: "All tools, by name",
  named: "Matching tools",
  words: "keywords",
  meaning: "meaning",
  name: "named",
  always: "always",
  alwaysOn: "Always on",
  show: "Show",
  hide: "Hide",
  below: (ready: number) =>
    `${plural(ready, "more ready tool is", "more ready tools are")} not offered for this question. The model can still find them with `,
  farther: (rest: number) => `${plural(rest, "more tool is", "more tools are")} too unrelated to be ranked.`,
  none: "No tools yet. Add a server to see its tools here, with their arguments and a form to try them.",
  addServer: "Add a server",
  nothingCalled: (words: string) => `No tools match “${words}”.`,
  didYouMean: "Did you mean ",
  choose: "Select a tool to see its arguments and try it.",
  tryIt: "Try it",
  schema: "Schema",
  calls: "Calls",
  run: "Run tool",
  stop: "Stop",
  copyCommand: "Copy as command",
  gate: { allow: "Runs without approval", ask: "You'll be asked first", deny: "Will be denied" },
  lastResult: "Last result",
  result: "Result",
  nothing: "Empty result.",
  notKept: "The call is logged; the result is kept only while this tab is open.",
  pin: "Always on: offer it for every question",
  unpin: "No longer always on",
  more: "More",
  turnOff: "Turn off",
  turnOn: "Turn on",
  openServer: (server: string) => `Open ${server}`,
  seeCalls: "View calls",
  copyName: "Copy name",
  turnedOff: (tool: string) => `Turned off “${tool}”.`,
  turnedOn: (tool: string) => `Turned on “${tool}”.`,
  pinned: (tool: string) => `“${tool}” is always on.`,
  unpinned: (tool: string) => `“${tool}” is no longer always on.`,
  notReady: (why: string) => `${why[0]?.toUpperCase() ?? ""}${why.slice(1)}.`,
  changed: (when: string, parts: string[]) => `Changed ${when}: ${parts.join(", ")}.`,
  firstSeen: (when: string) => `First seen ${when}.`,
  takes: "Arguments",
  gives: "Result schema",
  whole: "Full definition",
  noCalls: "No calls yet.",
  allCalls: "View all in Activity",
  stopped: "You stopped it.",
  askFirst: "You'll be asked first. Your answer is for this call only.",
};

export function summary(found: ToolsFound | Ranking | undefined): string {
  if (!found) return " ";
  const of = [
    found.servers > 0 ? plural(found.servers, "server") : "",
    found.own > 0 ? `Toolcrib itself (${thousands(found.own)})` : "",
  ].filter(Boolean);
  return `${plural(found.known, "tool")} from ${of.join(" and ")}, ${thousands(found.ready)} ready now.`;
}

export function tokens(ranking: Ranking): string {
  return `${count(ranking.offered_tokens)} of ${count(ranking.all_tokens)} tokens`;
}

export function tag(tool: ShelfTool): string {
  if (tool.standing === "off") return "off";
  if (tool.standing === "held") return "held for review";
  if (tool.standing === "away") return "not ready";
  if (tool.gate === "ask") return "needs approval";
  if (tool.gate === "deny") return "denied";
  return tool.reads ? "read-only" : "";
}

/** What a reader hears after the ranking has come to rest. */
export function heard(ranking: Ranking): string {
  const [first] = ranking.tools;
  const offered = plural(ranking.offered, "tool offered", "tools offered");
  return first ? `${offered}, first ${spoken(first)}, ${first.fit.toFixed(2)}` : offered;
}

function spoken(tool: RankedTool): string {
  return `${tool.server ?? ""} ${tool.tool.replaceAll("_", " ")}`.trim();
}

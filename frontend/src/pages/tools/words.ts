/** The sentences of the Tools page. */

import type { RankedTool, Ranking, ShelfTool, ToolsFound } from "../../api/types";
import { count, plural } from "../../ui/amounts";

export const WORDS = {
  title: "Tools",
  hint: "Write a question to see what a model would be offered.",
  search: "Search tools or write a question",
  asQuestion: "As a question",
  byName: "By name",
  searchAs: "How to search",
  settings: "Settings",
  ranking: "Ranking for this question",
  everything: "All tools, by name",
  named: "Tools of this name",
  words: "words",
  meaning: "meaning",
  name: "named",
  always: "always",
  alwaysOn: "Always on",
  show: "Show",
  hide: "Hide",
  below: (ready: number) =>
    `Below the line: ${plural(ready, "ready tool that is", "ready tools that are")} not offered for this question. The model can still find them with `,
  farther: (rest: number) => `${plural(rest, "more tool")} too far from the question to be ranked.`,
  none: "No tools yet. Add a server, and its tools stand here: what each does, what it takes, and how to try it.",
  addServer: "Add a server",
  nothingCalled: (words: string) => `Nothing is called “${words}”.`,
  didYouMean: "Did you mean ",
  choose: "Choose a tool to see what it takes, and to try it.",
  tryIt: "Try it",
  schema: "Schema",
  calls: "Calls",
  run: "Run it",
  stop: "Stop",
  copyCommand: "Copy as command",
  gate: { allow: "Runs without asking", ask: "The gate will ask", deny: "The gate will refuse" },
  lastResult: "Last result",
  result: "Result",
  notKept: "How it went is on record. What it answered is kept only while this tab is open.",
  pin: "Always on: offer it for every question",
  unpin: "No longer always on",
  more: "More",
  turnOff: "Turn off",
  turnOn: "Turn on",
  openServer: (server: string) => `Open ${server}`,
  seeCalls: "See its calls",
  copyName: "Copy its name",
  turnedOff: (tool: string) => `Turned off “${tool}”.`,
  turnedOn: (tool: string) => `Turned on “${tool}”.`,
  pinned: (tool: string) => `“${tool}” is always on.`,
  unpinned: (tool: string) => `“${tool}” is no longer always on.`,
  held: "Its definition differs from the one you approved. It is not offered until you say so.",
  changed: (when: string, parts: string[]) => `Changed ${when}: ${parts.join(", ")}.`,
  firstSeen: (when: string) => `First seen ${when}.`,
  takes: "What it takes",
  gives: "What it gives",
  whole: "The whole definition",
  noCalls: "Never called yet.",
  allCalls: "All in Activity",
  stopped: "You stopped it.",
  askFirst: "The gate asks first. Your answer is for this call.",
};

export function summary(found: ToolsFound | Ranking | undefined): string {
  if (!found) return " ";
  return `${found.known.toLocaleString("en-US")} from ${plural(found.servers, "server")}, ${found.ready.toLocaleString("en-US")} ready now.`;
}

export function tokens(ranking: Ranking): string {
  return `${count(ranking.offered_tokens)} of ${count(ranking.all_tokens)} tokens`;
}

export function tag(tool: ShelfTool): string {
  if (tool.standing === "off") return "off";
  if (tool.standing === "held") return "held";
  if (tool.standing === "away") return "not ready";
  if (tool.gate === "ask") return "asks";
  if (tool.gate === "deny") return "refused";
  return tool.reads ? "reads" : "";
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

/** Every sentence of the page of one server. */

import type { HeldTool } from "../../api/types";
import { day, plural } from "../../ui/amounts";
import { reveal } from "../../ui/hidden";

export const WORDS = {
  test: "Test connection",
  restart: "Restart",
  off: "Turn off",
  on: "Turn on",
  tools: "Tools",
  offered: "What a model may be offered",
  noTools: "No tools. They stand here as soon as it has been connected once.",
  held: "Held",
  noDescription: "No description.",
  log: "Log",
  live: "Live",
  paused: "Paused",
  pause: "Pause",
  resume: "Go on",
  logFilter: "Filter, e.g. level:error or robots",
  noLog: "It has written nothing yet.",
  noLogEnded: "It wrote nothing before it ended.",
  noMatch: "No line fits the filter.",
  readLast: "Read the last 10 lines",
  runsAs: "Runs as",
  versions: "Versions",
  nothingUpdates: "Nothing updates by itself",
  notInstalled: "Toolcrib did not install it, so it keeps no versions of it.",
  approve: "Approve new definition…",
  keepHeld: "Keep it held",
  difference: "Definition difference",
  ifKnown: "If you know why it changed:",
  approved: (name: string) => `Approved what “${name}” offers now.`,
  staysHeld: "It stays held.",
  keepOld: "Keep the old version",
  seeDifference: "See difference",
  sandbox: "Sandbox",
  noSandbox: "none, it can do what you can do",
} as const;

export const FACTS = {
  up: "Up",
  calls: "Calls today",
  typical: "Typical",
  memory: "Memory",
  costs: "Costs",
  tokens: "tokens per question",
  used: "Last used",
  never: "never",
  restarts: "Restarts",
} as const;

export function callWords(calls: number, failed: number): string {
  return failed ? `${calls}, ${failed} failed` : String(calls);
}

export const NEEDS = {
  review: "Review…",
  signIn: "It wants a sign-in.",
  signInDo: "Sign in",
  callsWait: "Your tools are kept, calls wait.",
  notSet: (names: string, many: number) => `${names} ${many === 1 ? "is" : "are"} not set.`,
  keyring: "It will be kept in the keyring.",
  setValue: "Set value",
  install: "Install",
  fix: "Fix entry",
} as const;

export const UPDATE = {
  title: (name: string, to: string) => `Update ${name} to ${to}?`,
  current: "This version is in place already.",
  leave: "Leave it",
  go: "Update",
} as const;

export const RUNS = {
  address: "Address",
  command: "Command",
  runs: "Runs",
  inside: "inside Toolcrib itself, without a process of its own",
  folder: "Folder",
  headers: "Headers",
  environment: "Environment",
  nothing: "nothing",
  nothingElse: "and nothing else",
  process: "Process",
  none: "none",
} as const;

/** "“fetch” is held until you decide. The other tool works." */
export function heldWords(held: readonly string[], others: number): string {
  const names = held.map((tool) => `“${reveal(tool)}”`).join(", ");
  const rest = others > 0 ? ` The other ${others === 1 ? "tool works" : `${others} tools work`}.` : "";
  return `${names} ${held.length === 1 ? "is" : "are"} held until you decide.${rest}`;
}

/** "Approved 2 Oct, 7be20d4 → now 9f3c1ae" */
export function hashWords(tool: HeldTool): string {
  const now = `now ${tool.hash.slice(0, 7)}`;
  if (!tool.approved_hash) return now;
  const when = tool.approved_at ? `Approved ${day(tool.approved_at)}, ` : "Approved ";
  return `${when}${tool.approved_hash.slice(0, 7)} → ${now}`;
}

/** "4 keys we do not know are kept." */
export function keptWords(unknown: number): string {
  return unknown === 0 ? "" : `${plural(unknown, "key")} we do not know ${unknown === 1 ? "is" : "are"} kept.`;
}

/** "One tool definition changed with version 2026.10.24." */
export function changedWords(many: number, version: string | null): string {
  const what = many === 1 ? "One tool definition changed" : `${many} tool definitions changed`;
  return version ? `${what} with version ${version}.` : `${what}.`;
}

export function junkWords(lines: number): string {
  return lines === 1 ? "1 line on stdout was not protocol." : `${lines.toLocaleString("en-US")} lines on stdout were not protocol.`;
}

/** What a server says of its own tool; a hint, never trusted. */
export function saysIt(annotations: Record<string, unknown>): string {
  const words: string[] = [];
  if (annotations["readOnlyHint"] === true) words.push("reads");
  else if (annotations["destructiveHint"] === true) words.push("may destroy");
  else if (annotations["readOnlyHint"] === false) words.push("writes");
  if (annotations["openWorldHint"] === true) words.push("open world");
  return words.join(", ");
}

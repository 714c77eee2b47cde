/** Texts of the page of one server: buttons, log, review of changed tools, facts, "Runs as", accounts, the form of its
 * entry, resources and prompts, traffic. */

import type { HeldGlance, HeldTool } from "../../api/types";
import { day, plural, thousands } from "../../ui/amounts";
import { reveal } from "../../ui/hidden";

export const TEXT = {
  test: "Test connection",
  restart: "Restart",
  off: "Turn off",
  on: "Turn on",
  tools: "Tools",
  offered: "Tools that may be offered to a model",
  noTools: "No tools yet. They appear after the first connection.",
  held: "Held for review",
  noDescription: "No description.",
  log: "Log",
  live: "Live",
  paused: "Paused",
  pause: "Pause",
  resume: "Resume",
  logFilter: "Filter, e.g. level:error or level:event",
  noLog: "No log output yet.",
  noLogEnded: "No log output before it stopped.",
  noMatch: "No lines match the filter.",
  readLast: "Read the last 10 lines",
  runsAs: "Runs as",
  versions: "Versions",
  nothingUpdates: "No automatic updates",
  notInstalled: "Not installed by Toolcrib, so no versions are kept.",
  approve: "Approve new definition…",
  keepHeld: "Keep on hold",
  difference: "Definition difference",
  ifKnown: "If you know why it changed:",
  approved: (name: string) => `Approved the current tools of “${name}”.`,
  staysHeld: "It stays on hold.",
  keepOld: "Keep the old version",
  seeDifference: "See difference",
  sandbox: "Sandbox",
  noSandbox: "none; it can do anything you can do",
} as const;

export const FACTS = {
  up: "Up",
  calls: "Calls today",
  typical: "Typical",
  memory: "Memory",
  costs: "Cost",
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
  signIn: "Sign-in required.",
  signInDo: "Sign in",
  callsWait: "Its tools stay listed; calls wait until you sign in.",
  notSet: (names: string, many: number) => `${names} ${many === 1 ? "is" : "are"} not set.`,
  keyring: "It will be stored as a secret.",
  setValue: "Set value",
  install: "Install",
  fix: "Fix entry",
  addAccount: "Add account…",
  chooseDisplay: "Choose display…",
  notOffered: "Its tools are not offered until then.",
} as const;

export const UPDATE = {
  title: (name: string, to: string) => `Update ${name} to ${to}?`,
  current: "This version is already installed.",
  leave: "Cancel",
  go: "Update",
} as const;

export const RUNS = {
  address: "Address",
  command: "Command",
  runs: "Runs",
  inside: "inside Toolcrib, without its own process",
  folder: "Folder",
  headers: "Headers",
  environment: "Environment",
  nothing: "nothing",
  nothingElse: "and nothing else",
  process: "Process",
  none: "none",
} as const;

export const OFFERED = {
  resources: "Resources",
  prompts: "Prompts",
  resource: "Resource",
  template: "template",
  noResources: "This server offers no resources.",
  noPrompts: "This server offers no prompts.",
  more: "Show more",
  read: "Read",
  reading: "Reading…",
  close: "Close",
  get: "Fill in",
  copy: "Copy message",
  optional: "optional",
  empty: "It is empty.",
  address: (name: string) => `Address for ${name}`,
  notShown: (type: string, size: string) => `${type || "Binary content"}, ${size}, is not shown.`,
  notText: (type: string) => `${type || "Content"} is not shown.`,
  message: (role: string) => `Message of the ${role}`,
} as const;

export const TRAFFIC = {
  title: "Traffic",
  record: "Record",
  recording: "Recording",
  off: "Off",
  clear: "Clear",
  download: "Download",
  filter: "Filter, e.g. tools/call or error",
  filterLabel: "Filter messages by method",
  list: "Messages",
  notRecording:
    "Nothing is recorded. Turn on Record, then use the server: the messages in both directions appear here, with known secrets masked.",
  noneYet: "No messages yet. Call one of its tools, or restart it to see how the connection begins.",
  noMatch: "No messages match the filter.",
  cut: "too long, only its beginning is kept",
  copy: "Copy message",
  direction: (toServer: boolean) => (toServer ? "to the server" : "from the server"),
  skipped: (many: number) => `${plural(many, "message")} came too fast and ${many === 1 ? "was" : "were"} not kept.`,
} as const;

export const FORM = {
  title: "Command and connection",
  names: {
    url: "Address",
    httpUrl: "Address",
    serverUrl: "Address",
    uri: "Address",
    command: "Command",
    module: "Module",
    cwd: "Working directory",
  },
  arguments: "Arguments",
  argument: (number: number) => `Argument ${number}`,
  addArgument: "Add argument",
  up: (name: string) => `Move ${name.toLowerCase()} up`,
  down: (name: string) => `Move ${name.toLowerCase()} down`,
  remove: (name: string) => `Remove ${name}`,
  nameOf: (row: string) => `Name of ${row.toLowerCase()}`,
  valueOf: (name: string) => `Value of ${name}`,
  secret: "Secret",
  secretOf: (name: string) => `Store ${name} as a secret`,
  replace: "Replace",
  replaceOf: (name: string) => `Replace the secret of ${name}`,
  pairs: {
    env: {
      title: "Environment variables",
      one: (number: number) => `Variable ${number}`,
      add: "Add variable",
      example: "NAME",
      about: "Values that look like secrets are moved to the secret store when you save.",
    },
    headers: {
      title: "Headers",
      one: (number: number) => `Header ${number}`,
      add: "Add header",
      example: "Authorization",
      about: "Values that look like secrets are moved to the secret store when you save.",
    },
  },
  otherForm: (keys: readonly string[]) => `${keys.join(", ")}: written in another form. Edit it as raw JSON.`,
  changed: "The entry was changed somewhere else. Discard your changes to see it.",
  trust: "Changing what runs requires trust again.",
  discard: "Discard",
  save: "Save",
} as const;

/** "Saved “git”. 2 values are now in the secret store." */
export function savedText(name: string, secrets: readonly string[]): string {
  if (secrets.length === 0) return `Saved “${name}”.`;
  return `Saved “${name}”. ${secrets.length === 1 ? "1 value is" : `${secrets.length} values are`} now in the secret store.`;
}

export function restoredText(name: string): string {
  return `Restored the entry of “${name}”.`;
}

/** "“fetch” is held for review: its definition changed since it was approved. The other tool works." */
export function heldText(held: readonly HeldGlance[], others: number): string {
  const tools = held.map(({ tool, reason }) => `“${reveal(tool)}” is held for review: ${reason}.`).join(" ");
  const rest = others > 0 ? ` The other ${others === 1 ? "tool works" : `${others} tools work`}.` : "";
  return `${tools}${rest}`;
}

/** "Approved 2 Oct, 7be20d4 → now 9f3c1ae" */
export function hashText(tool: HeldTool): string {
  const now = `now ${tool.hash.slice(0, 7)}`;
  if (!tool.approved_hash) return now;
  const when = tool.approved_at ? `Approved ${day(tool.approved_at)}, ` : "Approved ";
  return `${when}${tool.approved_hash.slice(0, 7)} → ${now}`;
}

/** "4 unknown keys are kept." */
export function unknownKeysText(unknown: number): string {
  return unknown === 0 ? "" : `${plural(unknown, "unknown key")} ${unknown === 1 ? "is" : "are"} kept.`;
}

/** "One tool definition needs your review, since version 2026.10.24." */
export function changedWords(many: number, version: string | null): string {
  const what = many === 1 ? "One tool definition needs your review" : `${many} tool definitions need your review`;
  return version ? `${what}, since version ${version}.` : `${what}.`;
}

export function junkText(lines: number): string {
  return lines === 1
    ? "1 line on stdout was not a protocol message."
    : `${thousands(lines)} lines on stdout were not protocol messages.`;
}

/** What a server says of its own tool; a hint, never trusted. */
export function saysIt(annotations: Record<string, unknown>): string {
  const words: string[] = [];
  if (annotations["readOnlyHint"] === true) words.push("read-only");
  else if (annotations["destructiveHint"] === true) words.push("destructive");
  else if (annotations["readOnlyHint"] === false) words.push("writes");
  if (annotations["openWorldHint"] === true) words.push("open world");
  return words.join(", ");
}

export const ACCOUNTS = {
  title: "Accounts",
  manage: "Manage",
  add: "Add account",
  none: "No account yet. Its tools need one.",
  readOnly: "Read only",
} as const;

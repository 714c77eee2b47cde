/** Texts of the dialog that adds a server: kinds of pasted text, warning about lookalikes, questions of trust, steps
 * of a test, titles of failures ("could not be started"). */

import { plural } from "../../ui/amounts";
import { needsText } from "../../ui/states";
import type { LookAlike, PasteKind, Recognised, RecognisedServer } from "./types";
import type { Setup } from "./types";

export const PASTE = {
  title: "Add a server",
  about: "Paste a command, a package, a link or JSON, or drop a file.",
  label: "A command, a package, a link or JSON",
  nothing: "Not recognised. Paste a command, a package, a link or JSON.",
  also: "Other formats",
  see: "Review plan",
  notText: "This file cannot be read here. Paste its path instead.",
};

export const LOOK_UP = {
  begun: "Looking it up",
  stop: "Stop",
  registry: (host: string) => `Searching ${host}`,
  stages: {
    ask: "Asking",
    runtime: "Downloading",
    resolve: "Resolving",
    fetch: "Downloading",
    copy: "Copying",
    scripts: "Running the install scripts of",
    build: "Building",
    activate: "Activating",
  },
} as const;

export const INCLUDED = {
  title: "Included with Toolcrib",
  tag: "Included",
  added: "Added",
  needsAccount: "Needs an account",
};

export const ALSO = ["uvx mcp-server-git", "https://…/mcp", '{"mcpServers": …}', "npm:name@1.2", "file.mcpb"];

const KINDS: Record<PasteKind, string> = {
  nothing: "",
  "command-npm": "A command that runs an npm package",
  "command-pypi": "A command that runs a Python package",
  "command-docker": "A command that runs a container",
  command: "A command",
  npm: "An npm package",
  pypi: "A PyPI package",
  bundle: "A bundle",
  file: "An installable file",
  folder: "A folder that contains a server",
  address: "An address",
  link: "A link that adds a server",
  document: "JSON with one server",
  ambiguous: "An ambiguous name",
};

export function thisIs(found: Recognised): string {
  if (found.servers.length > 1) return severalText(found.servers);
  return KINDS[found.kind];
}

export function severalText(servers: readonly RecognisedServer[]): string {
  const taken = servers.filter((server) => server.taken).length;
  const names = taken === 0 ? "" : taken === 1 ? " 1 name is already used." : ` ${taken} names are already used.`;
  return `${servers.length} servers.${names}`;
}

const LETTERS = ["spelled almost like", "one letter away from", "two letters away from"];

export function lookalikeText(near: LookAlike): string {
  const where = near.listed ? "which is in the catalog" : "which is well known";
  return `${LETTERS[near.letters] ?? "very similar to"} `.concat(`${near.name}, ${where}. Did you mean that?`);
}

export const INSTEAD = {
  install:
    "once, in its own folder, and runs it from there. It starts faster, works offline and never changes on its own.",
  connect: "Nothing runs on this computer. Toolcrib connects to it and asks you to sign in if needed.",
  run: "Toolcrib runs this command unchanged.",
};

export const CONFIRM = {
  program: "Allow this program to run on your computer?",
  address: "Allow Toolcrib to connect to this address?",
  programAbout: "A server can do anything you can do. This is the full command.",
  addressAbout: "Tool arguments are sent there. This is the full address.",
  changed: (name: string, since: string) => `The command of ${name} changed since ${since}.`,
  no: "Don't run",
  noAddress: "Don't connect",
  again: "You'll be asked again if it changes",
  exact: "Exact command",
};

export function trustText(install: boolean, address: boolean): string {
  if (address) return "Trust and test";
  return install ? "Trust, install and test" : "Trust and test";
}

/** What the user can do about a server that failed its test. */
export type Fix = "command" | "value" | "sign-in" | "account" | "choice";

export const STEPS = {
  resolve: "Resolve",
  install: "Install",
  start: "Start",
  connect: "Connect",
  handshake: "Handshake",
  list: "List tools",
  ready: "Ready",
  review: "Review",
} as const;

export const CHOICE = {
  where: (name: string) => `Where may ${name} work?`,
  not: "Not possible here.",
  add: "Add and test",
  save: "Save",
  back: "Back",
  cancel: "Cancel",
  saved: (name: string, title: string) => `Saved “${name}”: ${title}.`,
};

export const TEST = {
  goesOn: "continues if you close this",
  lastLines: "Last log lines",
  keepOff: "Keep it turned off",
  again: "Test again",
  fix: "Fix command",
  value: "Set value",
  signIn: "Sign in",
  account: "Add account…",
  choice: "Choose display…",
  stopped: "Stopped. Nothing is left running.",
  done: "Done",
  close: "Close",
  stop: "Stop",
  openLog: "Open log",
};

export const NEXT = {
  title: "What next",
  ask: "Ask something with it",
  /** Fills in the chat; only the user sends it. */
  question: (server: string, tool: string) =>
    `Use the tool “${tool}” of ${server} and show me what it gives. Ask me for what it needs.`,
  try: (tool: string) => `Try ${tool}`,
  another: "Add another",
  review: (tools: string) => `Review ${tools} on hold`,
  needs: (reason: string) => `Before it can be used: ${reason}`,
  open: (name: string) => `Open ${name}`,
} as const;

/** What the work on a server is called, and how it went. */
export function setupTitle(setup: Setup): string {
  const { name, state } = setup;
  const updates = setup.kind === "update";
  if (state === "ok") return updates ? `${name} is up to date` : `${name} works, ${plural(setup.tools, "tool")}`;
  if (state === "stopped") return updates ? `Stopped updating ${name}` : `Stopped testing ${name}`;
  if (state === "running") return updates ? `Updating ${name}` : `Testing ${name}`;
  const at = setup.steps.find((step) => step.state === "fail");
  return failureTitle(name, setup.error?.kind ?? "", at?.key ?? "", neededBy(setup));
}

/** For the status line, unless a dialog shows it. */
export function endedText(setup: Setup): string {
  return setup.state === "stopped" ? "" : `${setupTitle(setup)}.`;
}

/** What happened, and the rest of what is known about it. */
export function firstSentence(text: string): [string, string] {
  const [, first = text, rest = ""] = /^(.+?[.!?])\s+(\S.*)$/s.exec(text) ?? [];
  return [first, rest];
}

/** What a server that runs still needs, as one noun. */
export function neededBy(setup: Setup): string {
  const data: unknown = setup.error?.data;
  return typeof data === "object" && data !== null && "needs" in data ? String(data.needs) : "";
}

export function failureTitle(name: string, kind: string, step: string, needs = ""): string {
  if (needs) return `${name} ${needsText(needs)}`;
  if (step === "install") return `${name} could not be installed`;
  if (kind === "needs_auth") return `${name} requires sign-in`;
  if (kind === "missing_secret" || kind === "missing_variable") return `${name} needs a value`;
  if (step === "resolve") return `${name} is not configured correctly`;
  if (kind === "spawn_failed") return `${name} could not be started`;
  if (kind === "connection_lost" || (step === "handshake" && kind === "start_failed"))
    return `${name} started, then stopped`;
  if (kind === "unreachable") return `${name} cannot be reached`;
  return `${name} did not respond correctly`;
}

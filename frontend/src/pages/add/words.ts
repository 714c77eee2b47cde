/** Every sentence of the dialog that adds a server. */

import { plural } from "../../ui/amounts";
import type { LookAlike, PasteKind, Recognised, RecognisedServer } from "./data";
import type { Setup } from "./setups";

export const PASTE = {
  title: "Add a server",
  about: "Paste what you have: a command, a package, a link, JSON, or drop a file.",
  label: "A command, a package, a link or JSON",
  nothing: "This looks like nothing we know. A command, a package, a link or JSON would do.",
  also: "Also understood",
  see: "See the plan",
  looking: "Looking it up…",
  notText: "This file cannot be read here. Paste its path instead.",
};

export const ALSO = ["uvx mcp-server-git", "https://…/mcp", '{"mcpServers": …}', "npm:name@1.2", "file.mcpb"];

const KINDS: Record<PasteKind, string> = {
  nothing: "",
  "command-npm": "A command that runs an npm package",
  "command-pypi": "A command that runs a Python package",
  "command-docker": "A command that runs a container",
  command: "A command",
  npm: "A package of npm",
  pypi: "A package of PyPI",
  bundle: "A bundle",
  file: "A file that can be installed",
  folder: "A folder with a server in it",
  address: "An address",
  link: "A link that adds a server",
  document: "JSON with one server",
  ambiguous: "A name that could be several things",
};

export function thisIs(found: Recognised): string {
  if (found.servers.length > 1) return severalWords(found.servers);
  return KINDS[found.kind];
}

export function severalWords(servers: readonly RecognisedServer[]): string {
  const taken = servers.filter((server) => server.taken).length;
  const names = taken === 0 ? "" : taken === 1 ? " 1 name is taken." : ` ${taken} names are taken.`;
  return `${servers.length} servers.${names}`;
}

const LETTERS = ["the same but for its signs as", "one letter from", "two letters from"];

export function lookalikeWords(near: LookAlike): string {
  const where = near.listed ? "which is in the catalog" : "which is well known";
  return `${LETTERS[near.letters] ?? "nearly the name of"} `.concat(`${near.name}, ${where}. Did you mean that?`);
}

export const INSTEAD = {
  install: "once, in a place of its own, and starts it from there. It starts faster, works offline and does not change by itself.",
  connect: "Nothing runs on this computer. Toolcrib connects to it and asks you to sign in where it wants that.",
  run: "Toolcrib starts this command as it is.",
};

export const CONFIRM = {
  program: "Let this program run on your computer?",
  address: "Let Toolcrib connect to this address?",
  programAbout: "A server can do what you can do. This is the whole command.",
  addressAbout: "What you ask its tools is sent there. This is the whole address.",
  changed: (name: string, since: string) => `The command of ${name} changed since ${since}.`,
  no: "Do not run it",
  noAddress: "Do not connect",
  again: "Asked again if it changes",
  exact: "Exact command",
};

export function trustWords(install: boolean, address: boolean): string {
  if (address) return "Trust and test";
  return install ? "Trust, install and test" : "Trust and test";
}

export const STEPS = {
  resolve: "Resolve",
  install: "Install",
  start: "Start",
  connect: "Connect",
  handshake: "Handshake",
  list: "List tools",
  review: "Review",
} as const;

export const TEST = {
  goesOn: "it goes on when you close this",
  lastLines: "Last lines it wrote",
  keepOff: "Keep it, turned off",
  again: "Test again",
  fix: "Fix command",
  value: "Set value",
  signIn: "Sign in",
  stopped: "Stopped. Nothing is left running.",
  done: "Done",
  close: "Close",
  stop: "Stop",
  openLog: "Open log",
};

/** What the work on a server is called, and how it went. */
export function setupTitle(setup: Setup): string {
  const { name, state } = setup;
  const updates = setup.kind === "update";
  if (state === "ok") return updates ? `${name} is up to date` : `${name} works, ${plural(setup.tools, "tool")}`;
  if (state === "stopped") return updates ? `Stopped updating ${name}` : `Stopped testing ${name}`;
  if (state === "running") return updates ? `Updating ${name}` : `Testing ${name}`;
  const at = setup.steps.find((step) => step.state === "fail");
  return failureTitle(name, setup.error?.kind ?? "", at?.key ?? "");
}

/** For the status line, when nobody looks at it; what failed and is no server yet stands in the list. */
export function endedWords(setup: Setup): string {
  return setup.state === "stopped" ? "" : `${setupTitle(setup)}.`;
}

/** What happened, and the rest of what is known about it. */
export function firstSentence(text: string): [string, string] {
  const [, first = text, rest = ""] = /^(.+?[.!?])\s+(\S.*)$/s.exec(text) ?? [];
  return [first, rest];
}

export function failureTitle(name: string, kind: string, step: string): string {
  if (step === "install") return `${name} could not be installed`;
  if (kind === "needs_auth") return `${name} wants a sign-in`;
  if (kind === "missing_secret" || kind === "missing_variable") return `${name} needs a value`;
  if (step === "resolve") return `${name} is not set up right`;
  if (kind === "spawn_failed") return `${name} could not be started`;
  if (kind === "connection_lost" || (step === "handshake" && kind === "start_failed")) return `${name} started, then stopped`;
  if (kind === "unreachable") return `Nobody answers for ${name}`;
  return `${name} did not answer as it should`;
}

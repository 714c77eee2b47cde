/** Texts of the list of servers: groups, summary, why a server is in its state, its source ("npm · …"), tokens, all
 * servers off, hosts of a sign-in, importing from a file. */

import { clock, count, day, duration, plural, thousands } from "../../ui/amounts";
import { tilde } from "../../text/home";
import { reveal } from "../../ui/hidden";
import type { Setup } from "../add/types";
import { failureTitle } from "../add/text";
import type { Glance, Group } from "./model";

export const GROUPS: Record<Group, string> = {
  needs: "Needs you",
  trouble: "Problems",
  working: "In progress",
  up: "Up",
  off: "Off",
};

export const PAGE = {
  title: "Servers",
  import: "Import",
  add: "Add server",
  filter: "Filter by name, tool or package",
  filterLabel: "Filter servers",
  master: "All servers",
  sortAgain: "Sort again",
  orderChanged: "Order changed.",
  lastGood: "The last valid configuration stays in use.",
};

export const EMPTY = {
  title: "No servers yet",
  about: "Paste a command, a package name, a link or JSON. Nothing runs until you've seen its command.",
  hint: "npx -y … · uvx … · https://… · { }",
  catalog: "Browse catalog",
};

/** "5 of 12 up. 4 need you, 2 have problems." */
export function summaryText(counts: Record<Group, number>, total: number): string {
  const up = `${counts.up} of ${total} up.`;
  const waiting = counts.needs === 0 ? "" : `${counts.needs} ${counts.needs === 1 ? "needs" : "need"} you`;
  const trouble = counts.trouble === 0 ? "" : `${counts.trouble} ${counts.trouble === 1 ? "has" : "have"} problems`;
  const rest = [waiting, trouble].filter(Boolean).join(", ");
  return rest ? `${up} ${rest}.` : up;
}

/** Why a server is in its state, in one sentence or two. */
export function reasonOf(server: Glance, now: number): string {
  switch (server.state) {
    case "needs-trust":
      return trustReason(server);
    case "needs-auth":
      return server.since
        ? `The session ended at ${clock(server.since)}. Its tools stay listed; calls wait until you sign in.`
        : "Sign-in required. Calls wait.";
    case "needs-config":
      return valueReason(server);
    case "backoff":
      return `${sentence(server.reason, server.name)}${server.attempt ? ` Attempt ${server.attempt} of ${server.attempts ?? "?"}.` : ""}`;
    case "failed":
      return `${sentence(server.reason, server.name)} It will not be retried.`;
    case "starting":
      return server.since ? `Connecting, ${duration(Math.max(0, now - Date.parse(server.since)))}` : "Connecting";
    case "degraded":
      return sentence(server.reason, server.name);
    case "disabled":
      return offReason(server);
    case "ready":
      return readyReason(server, now);
  }
}

/** How far an installation is, or why there is none. */
export function setupReason(setup: Setup): string {
  if (!setup.installing)
    return `${failureTitle(setup.name, setup.error?.kind ?? "", "install")}. ${sentence(setup.error?.message ?? "")}`;
  if (setup.total > 0) return `${setup.done} of ${plural(setup.total, "package")}`;
  return sentence(setup.steps.find((step) => step.key === "install")?.detail ?? "").replace(/\.$/, "") || "Preparing";
}

/** Tokens in thousands, as in 0.5k: a list of them reads best in one unit. */
export function kilo(tokens: number): string {
  return tokens < 1000 ? `${Math.max(0.1, tokens / 1000).toFixed(1)}k` : count(tokens);
}

function trustReason(server: Glance): string {
  if (/changed since/.test(server.reason))
    return "Its command changed since you trusted it. Review it before it starts.";
  if (server.source.imported_from) return "Imported, not run yet. Review its command before it starts.";
  return "Added, not run yet. Review its command before it starts.";
}

function valueReason(server: Glance): string {
  const [first, ...others] = server.missing;
  if (first === undefined) return sentence(server.reason, server.name);
  const more = others.length > 0 ? ` and ${others.length} more` : "";
  return `${shortSecret(server.name, first)}${more} ${more ? "are" : "is"} not set. It will be stored as a secret.`;
}

/** The name of a secret without the server's own before it. */
export function shortSecret(server: string, secret: string): string {
  return secret.startsWith(`${server}.`) ? secret.slice(server.length + 1) : secret;
}

function offReason(server: Glance): string {
  if (server.enabled) return server.reason ? sentence(server.reason, server.name) : `${OFF.title}.`;
  const how = server.since ? `You turned it off ${onDay(server.since)}.` : "It is turned off in the config file.";
  const tools =
    server.tools > 0
      ? ` Its ${plural(server.tools, "tool")} ${server.tools === 1 ? "is" : "are"} not offered.`
      : " Its tools are not offered.";
  return `${how}${tools}`;
}

function onDay(when: string): string {
  const shown = day(when);
  if (/^\d\d:/.test(shown)) return `at ${shown}`;
  if (shown === "yesterday") return shown;
  return `on ${new Date(when).getTime() > Date.now() - 6 * 86_400_000 ? new Date(when).toLocaleDateString("en-GB", { weekday: "long" }) : shown}`;
}

function readyReason(server: Glance, now: number): string {
  const [first, ...others] = server.held;
  if (first !== undefined && others.length === 0)
    return `Running. “${reveal(first.tool)}” is held for review: ${first.reason}.`;
  if (first !== undefined) return `Running. ${server.held.length} tools are held for review.`;
  if (server.checking > 0) {
    const [checking, all] = [server.checking, server.tools].map(thousands);
    return `Running. ${checking} of ${all} tools are still being checked.`;
  }
  const up = server.up_since ? `Up ${upFor(now - Date.parse(server.up_since))}.` : "";
  const newer = server.newest ? `Update available: ${reveal(server.newest)}.` : "";
  const where = newer ? "" : server.touches.map((path) => tilde(reveal(path))).join(", ");
  return [up, sentence(server.reason, server.name), newer, where].filter(Boolean).join(" ");
}

/** In whole seconds: a list that counts tenths would flicker. */
function upFor(ms: number): string {
  return ms < 60_000 ? `${Math.max(1, Math.round(ms / 1000))} s` : duration(ms);
}

/** The host's reason as a sentence, without the searched PATH, which the server's own page shows. */
function sentence(text: string, name = ""): string {
  const plain = reveal(text.trim())
    .replace(/ on the PATH \([^)]*\)/, " on the PATH")
    .replace(
      /^\S+ is not running at https?:\/\/([^\s/:]+(?::\d+)?)\S*: the connection was refused/,
      "$1 refused the connection",
    )
    .replace(/'([^']+)'/g, "“$1”");
  if (!plain) return "";
  const upper = name && plain.startsWith(name) ? plain : plain.charAt(0).toUpperCase() + plain.slice(1);
  return /[.!?…]$/.test(upper) ? upper : `${upper}.`;
}

/** "npm · server-postgres 0.6.2", "from Claude Desktop", "in process". */
export function sourceLabel(server: Glance): string {
  const from = server.source.imported_from;
  return server.state === "needs-trust" && from ? `from ${from}` : sourceText(server.source);
}

export function sourceText({ kind, text, version }: Glance["source"]): string {
  if (kind === "in process") return kind;
  if (kind === "address") return reveal(text.replace(/^https?:\/\//, ""));
  return tilde(reveal([kind, "·", shortPackage(text), version ?? ""].join(" ").trim()));
}

function shortPackage(text: string): string {
  return text.replace(/^@modelcontextprotocol\//, "");
}

export const OFF = {
  title: "All servers are off",
  again: "Turn on again",
  about: (when: string | null, ended: number | null) =>
    `${when ? `You turned them off at ${clock(when)}.` : "They are turned off in the config file."}${ended === null ? "" : ` ${plural(ended, "process", "processes")} ended.`} Chats continue without tools.`,
};

export const SIGN_IN_HOSTS = {
  title: "Do these hosts belong together?",
  confirm: "They belong together, continue",
  parts: {
    issuer: "Issuer",
    page: "You agree at",
    token: "Code is sent to",
    registration: "Registration",
    revocation: "Revocation",
  } as Record<string, string>,
};

export const GIVEN = {
  choose: "Choose file…",
  file: "Config file",
  paste: "Paste or drop a config file",
  pasted: "Pasted text",
  given: "Files to import from",
  remove: (name: string) => `Leave out ${name}`,
  unnamed: "it has no name; paste it under Add server",
  nothing: "No servers in it. Give the config file of an MCP client, such as mcp.json.",
  noneFound:
    "No config files of other clients were found here. Choose one, or add a server by pasting a command or link.",
  notText: (names: readonly string[]) =>
    `${names.join(", ")} ${names.length === 1 ? "is" : "are"} no text of at most 1 MB.`,
} as const;

/** The list of servers as data: which group each state belongs to (Needs you, Problems, Up, Off), order of groups and
 * states, filter, and the one button of a row ("Try now", "Set value"). */

import type { Result } from "../../api/client";
import type { Setup } from "../add/types";

export type Overview = Result<"overview">;
export type Glance = Overview["servers"][number];
export type Group = "needs" | "trouble" | "working" | "up" | "off";
export type Show = "all" | "needs" | "up" | "off" | "trouble";

export const ORDER: readonly Group[] = ["needs", "trouble", "working", "up", "off"];

/** One line of the list: a server, or an installation that is to become one. */
export interface Row {
  name: string;
  group: Group;
  /** Its position in the list: by group, then by state. */
  rank: number;
  server: Glance | null;
  /** What is being installed for it, or could not be and is no server yet. */
  setup: Setup | null;
}

/** In each group, in this order; what is not named here comes first. */
const KINDS: readonly string[] = [
  "needs-trust",
  "needs-auth",
  "needs-config",
  "ready",
  "backoff",
  "failed",
  "degraded",
  "installing",
  "starting",
];
const APART = 100;

function rankOf(group: Group, state: string): number {
  const kind = group === "up" || group === "off" ? 0 : KINDS.indexOf(state) + 1;
  return ORDER.indexOf(group) * APART + kind;
}

export function groupOfRank(rank: number): Group {
  return ORDER[Math.floor(rank / APART)] ?? "off";
}

export function groupOf(server: Glance): Group {
  switch (server.state) {
    case "needs-trust":
    case "needs-auth":
    case "needs-config":
      return "needs";
    case "backoff":
    case "failed":
    case "degraded":
      return "trouble";
    case "starting":
      return "working";
    case "disabled":
      return "off";
    case "ready":
      return server.held.length > 0 ? "needs" : "up";
  }
}

/** The size of each group; a running server with a changed definition counts twice. */
export function countGroups(rows: readonly Row[]): Record<Group, number> {
  const counts: Record<Group, number> = { needs: 0, trouble: 0, working: 0, up: 0, off: 0 };
  for (const row of rows) {
    counts[row.group] += 1;
    if (row.group === "needs" && row.server?.state === "ready") counts.up += 1;
  }
  return counts;
}

/** Servers and what is being installed, in the order of the file. */
export function rowsOf(overview: Overview, setups: readonly Setup[]): Row[] {
  const rows = overview.servers.map((server): Row => {
    const setup = setups.find((one) => one.name === server.name && one.installing) ?? null;
    return rowOf(server.name, setup ? "working" : groupOf(server), server, setup);
  });
  const known = new Set(rows.map((row) => row.name));
  for (const setup of setups) {
    if (known.has(setup.name)) continue;
    if (setup.installing) rows.push(rowOf(setup.name, "working", null, setup));
    else if (isNoServer(setup)) rows.push(rowOf(setup.name, "trouble", null, setup));
  }
  return rows;
}

/** It was to be added, and came to nothing before it was written down. */
function isNoServer(setup: Setup): boolean {
  const at = setup.steps.find((step) => step.state === "fail")?.key ?? "install";
  return setup.kind === "add" && setup.state === "failed" && (at === "install" || at === "resolve");
}

function rowOf(name: string, group: Group, server: Glance | null, setup: Setup | null): Row {
  const state = setup ? (setup.installing ? "installing" : "failed") : (server?.state ?? "");
  return { name, group, rank: rankOf(group, state), server, setup };
}

export function isShown(row: Row, show: Show, words: string, tools: ReadonlyMap<string, readonly string[]>): boolean {
  if (show === "up") {
    if (row.group !== "up" && row.server?.state !== "ready") return false;
  } else if (show !== "all" && row.group !== show) return false;
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (wanted.length === 0) return true;
  const source = row.server?.source ?? row.setup?.source;
  const text = [row.name, source?.text ?? "", source?.kind ?? "", ...(tools.get(row.name) ?? [])]
    .join(" ")
    .toLowerCase();
  return wanted.every((word) => text.includes(word));
}

export type Way =
  | "why"
  | "review"
  | "sign-in"
  | "value"
  | "difference"
  | "try"
  | "fix"
  | "cancel"
  | "log"
  | "on"
  | "install"
  | "account"
  | "choice";

/** The one button of a row. */
export function wayOf(row: Row): { way: Way; words: string } | null {
  if (row.setup) return row.setup.installing ? { way: "cancel", words: "Cancel" } : { way: "why", words: "See why" };
  const server = row.server;
  if (!server) return null;
  switch (server.state) {
    case "needs-trust":
      return { way: "review", words: "Review…" };
    case "needs-auth":
      return { way: "sign-in", words: "Sign in" };
    case "needs-config":
      if (server.needs === "account") return { way: "account", words: "Add account…" };
      if (server.needs === "display") return { way: "choice", words: "Choose display…" };
      if (server.missing.length > 0) return { way: "value", words: "Set value" };
      return /not installed/.test(server.reason)
        ? { way: "install", words: "Install" }
        : { way: "fix", words: "Fix entry" };
    case "backoff":
      return { way: "try", words: "Try now" };
    case "failed":
      return { way: "fix", words: "Fix command" };
    case "degraded":
      return { way: "log", words: "Open log" };
    case "disabled":
      return server.enabled && !server.reason ? null : { way: "on", words: "Turn on" };
    case "ready":
      return server.held.length > 0 ? { way: "difference", words: "See difference" } : null;
    case "starting":
      return null;
  }
}

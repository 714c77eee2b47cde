/** The list of servers as data: which group each belongs to, what can be done with it, what is in view. */

import type { Result } from "../../api/client";
import type { Trial } from "../add/trials";

export type Overview = Result<"overview">;
export type Glance = Overview["servers"][number];
export type Group = "needs" | "trouble" | "working" | "up" | "off";
export type Show = "all" | "needs" | "up" | "off" | "trouble";

export const ORDER: readonly Group[] = ["needs", "trouble", "working", "up", "off"];

/** One line of the list: a server, or an installation that is to become one. */
export interface Row {
  name: string;
  group: Group;
  server: Glance | null;
  trial: Trial | null;
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

/** How many stand in each group; one that is up and whose definition changed counts as both. */
export function countGroups(rows: readonly Row[]): Record<Group, number> {
  const counts: Record<Group, number> = { needs: 0, trouble: 0, working: 0, up: 0, off: 0 };
  for (const row of rows) {
    counts[row.group] += 1;
    if (row.group === "needs" && row.server?.state === "ready") counts.up += 1;
  }
  return counts;
}

/** Servers and what is being installed, in the order of the file. */
export function rowsOf(overview: Overview, trials: readonly Trial[]): Row[] {
  const rows = overview.servers.map((server): Row => {
    const trial = trials.find((one) => one.name === server.name && one.installing && one.state === "running");
    return { name: server.name, group: trial ? "working" : groupOf(server), server, trial: trial ?? null };
  });
  const known = new Set(rows.map((row) => row.name));
  for (const trial of trials) {
    if (trial.installing && trial.state === "running" && !known.has(trial.name)) {
      rows.push({ name: trial.name, group: "working", server: null, trial });
    }
  }
  return rows;
}

export function isShown(row: Row, show: Show, words: string, tools: ReadonlyMap<string, readonly string[]>): boolean {
  if (show === "up") {
    if (row.group !== "up" && row.server?.state !== "ready") return false;
  } else if (show !== "all" && row.group !== show) return false;
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (wanted.length === 0) return true;
  const text = [row.name, row.server?.source.text ?? "", row.server?.source.kind ?? "", ...(tools.get(row.name) ?? [])].join(" ").toLowerCase();
  return wanted.every((word) => text.includes(word));
}

export type Way = "review" | "sign-in" | "value" | "difference" | "try" | "fix" | "cancel" | "log" | "on" | "install";

/** The one button of a row. */
export function wayOf(row: Row): { way: Way; words: string } | null {
  if (row.trial) return { way: "cancel", words: "Cancel" };
  const server = row.server;
  if (!server) return null;
  switch (server.state) {
    case "needs-trust":
      return { way: "review", words: "Review…" };
    case "needs-auth":
      return { way: "sign-in", words: "Sign in" };
    case "needs-config":
      if (server.missing.length > 0) return { way: "value", words: "Set value" };
      return /not installed/.test(server.reason) ? { way: "install", words: "Install" } : { way: "fix", words: "Fix entry" };
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

/** Server states for a screen reader ("2 servers are running"), and how much changed while disconnected. Pure. */

import type { Server, WaitingItem } from "../api/types";
import { plural } from "../ui/amounts";
import { serverState } from "../ui/states";

/** By name, the word for its state and how many tools it has. */
export type States = ReadonlyMap<string, string>;

export function statesOf(servers: readonly Server[]): Map<string, string> {
  return new Map(servers.map((server) => [server.name, stateOf(server)]));
}

export function stateOf(server: Server): string {
  return `${wordOf(server)}, ${server.tools}`;
}

export function wordOf(server: Server): string {
  return serverState(server.state, 0, null, server.needs).word;
}

/** Servers that are new, gone or in another state, and things that wait or wait no longer. */
export function countChanges(
  before: States,
  after: States,
  waited: readonly WaitingItem[],
  waits: readonly WaitingItem[],
): number {
  return differing(before, after) + differing(asMap(waited), asMap(waits));
}

function asMap(items: readonly WaitingItem[]): States {
  // What waits at a server is its state, which is counted already.
  return new Map(items.filter((item) => item.id).map((item) => [item.id ?? "", ""]));
}

function differing(before: States, after: States): number {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => before.get(name) !== after.get(name)).length;
}

/** One sentence for all that changed since the last one. */
export function announcement(changes: States): string {
  const [first] = changes;
  if (changes.size === 1 && first) return `${first[0]}: ${first[1]}`;
  const running = [...changes.values()].filter((word) => word === "Running").length;
  const others = changes.size - running;
  const parts = [
    running > 0 ? `${plural(running, "server")} ${running === 1 ? "is" : "are"} running` : "",
    others > 0 ? `${plural(others, "server")} changed` : "",
  ];
  return parts.filter(Boolean).join(", ");
}

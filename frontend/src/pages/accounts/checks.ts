/** How the latest test of each account went, kept as long as this page is open. The host makes the test. */

import { useSyncExternalStore } from "react";

import { run } from "../../api/client";
import { sentence } from "../../api/errors";
import type { Check } from "./types";

export interface LastCheck extends Check {
  at: string;
}

const watchers = new Set<() => void>();
let checks: Readonly<Record<string, LastCheck>> = {};

export function useCheck(name: string): LastCheck | undefined {
  return useSyncExternalStore(watch, () => checks[name]);
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => void watchers.delete(watcher);
}

export function keepCheck(name: string, check: Check): void {
  checks = { ...checks, [name]: { ...check, at: new Date().toISOString() } };
  watchers.forEach((watcher) => watcher());
}

export function forgetCheck(name: string): void {
  checks = Object.fromEntries(Object.entries(checks).filter(([known]) => known !== name));
  watchers.forEach((watcher) => watcher());
}

/** Connect with the account; a host that does not answer is a failed test, too. */
export async function testAccount(name: string): Promise<void> {
  try {
    keepCheck(name, await run("account_test", { name }));
  } catch (error) {
    keepCheck(name, { name, ok: false, identity: "", remarks: [], error: sentence(error), hint: "" });
  }
}

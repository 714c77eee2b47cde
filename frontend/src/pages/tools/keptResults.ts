/** The last result of each tried tool, for as long as the tab is open, also over a reload: the largest that is
 * kept. */

import type { Tried } from "../../api/types";

export type Outcome = "ok" | "tool_error" | "denied" | "failed" | "timeout" | "cancelled" | "invalid";

export interface Ended {
  outcome: Outcome;
  ms: number;
  at: Date;
  result: Tried["result"] | null;
  /** What went wrong, and what to do. */
  error: { message: string; hint: string } | null;
}

const PLACE = "toolcrib.result.";
const LARGEST = 100_000;
const kept = new Map<string, Ended>();

export function keepResult(tool: string, ended: Ended): void {
  kept.set(tool, ended);
  const text = JSON.stringify(ended);
  try {
    if (text.length <= LARGEST) sessionStorage.setItem(PLACE + tool, text);
    else sessionStorage.removeItem(PLACE + tool);
  } catch {
    sessionStorage.removeItem(PLACE + tool); // It is full: then it stays until the page is loaded anew.
  }
}

export function keptResult(tool: string): Ended | null {
  const known = kept.get(tool);
  if (known) return known;
  const text = sessionStorage.getItem(PLACE + tool);
  if (text === null) return null;
  const read = JSON.parse(text) as Omit<Ended, "at"> & { at: string };
  return { ...read, at: new Date(read.at) };
}

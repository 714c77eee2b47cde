/** A call in words: its arguments in one line, its state, and why it went wrong. */

import { duration } from "../../ui/amounts";
import { reveal } from "../../ui/hidden";
import { callState, type Shown } from "../../ui/states";
import type { CallView } from "./view";

const LONGEST_LINE = 300;

/** The arguments in one line, which ends in an ellipsis where the card does. */
export function inOneLine(given: Record<string, unknown>): string {
  const entries = Object.entries(given).filter(([, value]) => value !== null && value !== undefined);
  const [only] = entries;
  const line =
    entries.length === 1 && only ? shortly(only[1]) : entries.map(([name, value]) => `${name} ${shortly(value)}`).join(" · ");
  return reveal(line.slice(0, LONGEST_LINE)).replace(/\s+/g, " ");
}

function shortly(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

export function stateOf(call: CallView): Shown {
  if (call.asking) return callState("asking");
  return callState(call.outcome === "ok" ? "done" : call.outcome);
}

/** What stands at the right end of the header, besides the time. */
export function tookWords(call: CallView, now: number): string {
  if (call.outcome === "denied") return byWhom(call);
  if (call.outcome === "cancelled") return call.ms > 0 ? `by you · ${duration(call.ms)}` : "by you";
  if (call.outcome !== "running") return duration(call.ms);
  const spent = call.began === null ? "" : duration(Math.max(1000, Math.floor((now - call.began) / 1000) * 1000));
  const far = progressWords(call);
  return [far, now - (call.began ?? now) >= 1000 ? spent : ""].filter(Boolean).join(" · ");
}

function progressWords(call: CallView): string {
  const progress = call.progress;
  if (!progress) return "";
  const done = number(progress.done);
  return progress.total ? `${done} of ${number(progress.total)}` : done;
}

function number(value: number): string {
  return (Math.round(value * 100) / 100).toLocaleString("en-US");
}

const REFUSED = /^The call of \S+ was refused(?:: ([\s\S]*?))?\.\s*(?:\n([\s\S]*))?$/;
const RULE = /The rule (\S+) decided this/;

interface Refusal {
  reason: string;
  rule: string;
}

/** Who said no and why, from the words that the model was told. */
export function refusal(text: string): Refusal {
  const found = REFUSED.exec(text.trim());
  return { reason: found?.[1] ?? "", rule: RULE.exec(found?.[2] ?? "")?.[1] ?? "" };
}

function byWhom(call: CallView): string {
  if (call.answered) return "by you";
  const { reason, rule } = refusal(call.text);
  if (reason.includes("Nobody is there to be asked")) return "nobody was there";
  return rule && reason !== "the person said no" ? `by rule ${rule}` : "by you";
}

/** The person's word to the model; empty when there was none, null when the page cannot tell. */
export function wordToModel(call: CallView): string | null {
  if (call.answered) return call.answered.message;
  const { reason, rule } = refusal(call.text);
  if (reason === "the person said no") return "";
  return rule || !reason ? null : reason;
}

/** For a screen reader: server, tool, how it went, how long. */
export function spoken(call: CallView): string {
  const words = `${call.server ?? ""} ${call.name.replaceAll("_", " ")}`.trim();
  const state = stateOf(call).word.toLowerCase();
  if (call.outcome === "running") {
    const far = progressWords(call);
    return `${words}, ${state}${far ? `, ${far}` : ""}`;
  }
  return `${words}, ${state}, ${Math.round(call.ms)} milliseconds`;
}

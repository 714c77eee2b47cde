/** A call in words: its arguments in one line, state, progress, who denied it ("by rule 3"), what became of a stopped
 * call, and what a screen reader hears. */

import type { PolicyRule } from "../../api/types";
import { builtInName } from "../../text/builtInRules";
import { tilde } from "../../text/home";
import { duration, plural, spokenTime, thousands } from "../../ui/amounts";
import { reveal } from "../../ui/hidden";
import { callState, type Shown } from "../../ui/states";
import type { CallView } from "./view";

const LONGEST_LINE = 300;

/** The arguments in one line, which ends in an ellipsis where the card does. */
export function inOneLine(given: Record<string, unknown>): string {
  const entries = Object.entries(given).filter(([, value]) => value !== null && value !== undefined);
  const [only] = entries;
  const line =
    entries.length === 1 && only
      ? shortly(only[1])
      : entries.map(([name, value]) => `${name} ${shortly(value)}`).join(" · ");
  return reveal(line.slice(0, LONGEST_LINE)).replace(/\s+/g, " ");
}

function shortly(value: unknown): string {
  return typeof value === "string" ? tilde(value) : JSON.stringify(value);
}

export function stateOf(call: CallView): Shown {
  if (call.asking) return callState("asking");
  return callState(call.outcome === "ok" ? "done" : call.outcome);
}

/** Where a call waits among the others of its turn: after so many. */
export function waitsAfter(call: CallView, calls: readonly CallView[]): number {
  const waiting = calls.filter((one) => one.outcome === "waiting" && one.asking === null);
  return waiting.findIndex((one) => one.id === call.id) + 1;
}

/** The text at the right end of the header, besides the time. */
export function tookText(call: CallView, now: number, rules: Rules = [], after = 0): string {
  if (call.outcome === "interrupted") return "";
  if (call.outcome === "waiting") return after > 0 ? `after ${plural(after, "other")}` : "";
  if (call.outcome === "denied") return byWhom(call, rules);
  if (call.outcome === "cancelled") return call.ms > 0 ? `by you · ${duration(call.ms)}` : "by you";
  if (call.outcome !== "running") return duration(call.ms);
  const spent = call.began === null ? "" : duration(Math.max(1000, Math.floor((now - call.began) / 1000) * 1000));
  const far = progressText(call);
  return [far, now - (call.began ?? now) >= 1000 ? spent : ""].filter(Boolean).join(" · ");
}

function progressText(call: CallView): string {
  const progress = call.progress;
  if (!progress) return "";
  const done = number(progress.done);
  return progress.total ? `${done} of ${number(progress.total)}` : done;
}

function number(value: number): string {
  return thousands(Math.round(value * 100) / 100);
}

const REFUSED = /^The call of \S+ was refused(?:: ([\s\S]*?))?\.\s*(?:\n([\s\S]*))?$/;
/** Stored chats have the older wording, with "person" and "Nobody". */
const USER_DENIED = /^the (?:(?:person|user) said no|user denied it)$/;
const NO_ONE = /(?:Nobody|No one) is (?:there to be asked|available)/;
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

function byWhom(call: CallView, rules: Rules): string {
  if (byPerson(call)) return "by you";
  const { reason, rule } = refusal(call.text);
  if (NO_ONE.test(reason)) return "no one was available";
  const decided = call.rule || rule;
  return decided ? `by ${ruleName(decided, rules)}` : "by you";
}

/** Chats from before it was written down who decided have only the words. */
function byPerson(call: CallView): boolean {
  return call.answered !== null || call.rule === "asked" || USER_DENIED.test(refusal(call.text).reason);
}

export type Rules = readonly Pick<PolicyRule, "id" | "number">[];

/** A rule as people call it: by its number, one of ours by what it is about. */
export function ruleName(rule: string, rules: Rules): string {
  const known = rules.find((one) => one.id === rule);
  if (known) return `rule ${known.number}`;
  return /^[0-9a-f]{12}$/.test(rule) ? "a deleted rule" : `built-in rule “${builtInName(rule)}”`;
}

/** The user's note to the model; empty without one, null if the user did not decide. */
export function noteToModel(call: CallView): string | null {
  if (call.answered) return call.answered.message;
  const { reason, rule } = refusal(call.text);
  if (USER_DENIED.test(reason)) return "";
  if (call.rule === "asked") return reason;
  return call.rule || rule || !reason ? null : reason;
}

const ENDED = /(\d+) process(?:es)? of it ended/;
const NOT_MADE = /^The (?:person|user) stopped this before the call was made/m;
const ALONE = /^The (?:person|user) stopped this call/m;

/** What became of a call that was stopped, as far as it is known. */
export function stoppedText(call: CallView): string {
  if (NOT_MADE.test(call.text)) return "It had not started.";
  const ended = Number(ENDED.exec(call.text)?.[1] ?? 0);
  const far = call.progress?.total ? `Stopped after ${progressText(call)}. ` : "";
  const children =
    ended > 1 ? `The process and its ${plural(ended - 1, "child", "children")} ended` : "The process ended";
  const left = ended > 0 ? `${children}; nothing is left running.` : "Nothing is left running.";
  return `${far}${left}${ALONE.test(call.text) ? " The model was notified and continued without it." : ""}`;
}

/** For a screen reader: server, tool, how it went, how long. */
export function spoken(call: CallView): string {
  const words = `${call.server ?? ""} ${call.name.replaceAll("_", " ")}`.trim();
  const state = stateOf(call).word.toLowerCase();
  if (call.outcome === "running") {
    const far = progressText(call);
    return `${words}, ${state}${far ? `, ${far}` : ""}`;
  }
  return call.ms > 0 ? `${words}, ${state}, ${spokenTime(call.ms)}` : `${words}, ${state}`;
}

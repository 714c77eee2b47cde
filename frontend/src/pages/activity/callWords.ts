/** Who asked, what allowed it, and how it went, in a few words. Pure. */

import type { Call, GateNote, PolicyRule, RunningCall, Who } from "../../api/types";

const KINDS: Record<Who["kind"], string> = {
  chat: "chat · you",
  page: "page · you",
  gateway: "gateway",
  workflow: "workflow",
  python: "python · script",
  terminal: "terminal · you",
  other: "",
};

export function whoWords(who: Who): string {
  const kind = KINDS[who.kind];
  if (!who.name) return kind;
  return kind ? `${kind.split(" · ")[0] ?? kind} · ${who.name}` : who.name;
}

const BUILT_IN: Record<string, string> = {
  own_reading: "reads only",
  shell: "the command",
  code: "code",
  protected_files: "a protected file",
  untrusted_flow: "text from outside",
  session_mode: "a run of steps",
};

const SCOPES: Record<string, string> = { once: "once", chat: "this chat", project: "this project", always: "always" };

/** The column Allowed by, of a call that has not ended. */
export function allowedSoFar(call: Pick<RunningCall, "gate" | "state">, rules: readonly PolicyRule[] = []): string {
  if (call.state === "asking") return "waits for you";
  if (call.state === "waiting") return "not decided yet";
  return allowedBy({ gate: call.gate, outcome: "ok" }, rules);
}

/** The column Allowed by; `rules` are those of the person, to say which of them it was. */
export function allowedBy(call: Pick<Call, "gate" | "outcome">, rules: readonly PolicyRule[] = []): string {
  const { gate } = call;
  if (!gate) return call.outcome === "invalid" || call.outcome === "cancelled" ? "–" : "no rule needed";
  if (gate.allowed === true) return gate.scope === "once" || !gate.scope ? "once, by you" : `${SCOPES[gate.scope]}, by you`;
  if (gate.allowed === false) return "no, by you";
  if (gate.number !== null) return `rule ${gate.number}${mark(rules.find((rule) => rule.id === gate.rule))}`;
  if (!gate.rule) return call.outcome === "denied" ? "nobody to ask" : modeWords(gate);
  // A command that was let through was read, and does nothing else itself.
  if (gate.rule === "shell" && call.outcome !== "denied") return BUILT_IN["own_reading"] ?? "";
  return BUILT_IN[gate.rule] ?? "a rule that is gone";
}

/** What the rule is known by: where it holds, else why it is there. */
function mark(rule: PolicyRule | undefined): string {
  if (!rule) return "";
  if (rule.scope === "project") return " · project";
  if (rule.scope === "chat") return " · this chat";
  return rule.why && rule.why.length <= 24 ? ` · ${rule.why}` : "";
}

function modeWords(gate: GateNote): string {
  if (gate.mode === "session") return "for this turn";
  return gate.mode === "off" ? "nobody is asked" : "no rule asks";
}

export const MODES: Record<NonNullable<GateNote["mode"]>, string> = {
  always: "ask always",
  on_miss: "ask on a miss",
  on_rule: "ask on a rule",
  plan: "plan",
  session: "act for this turn",
  off: "never ask",
};

/** A line's worth of the arguments: of a command the command, else the first text. */
export function gist(text: string): string {
  try {
    const given = JSON.parse(text) as Record<string, unknown>;
    const value = given["command"] ?? given["path"] ?? given["query"] ?? given["url"];
    return typeof value === "string" ? value : "";
  } catch {
    return "";
  }
}

/** Texts of the columns "Requested by" ("chat · you") and "Allowed by" ("rule 3", "once, by you", names of built-in
 * rules), and which argument is shown in a row. Pure. */

import type { Call, GateNote, PolicyRule, RunningCall, Who } from "../../api/types";
import { builtInName } from "../../text/builtInRules";

const KINDS: Record<Who["kind"], string> = {
  chat: "chat · you",
  page: "page · you",
  gateway: "gateway",
  workflow: "workflow",
  python: "python · script",
  terminal: "terminal · you",
  other: "",
};

export function whoText(who: Who): string {
  const kind = KINDS[who.kind];
  if (!who.name) return kind;
  return kind ? `${kind.split(" · ")[0] ?? kind} · ${who.name}` : who.name;
}

const SCOPES: Record<string, string> = { once: "once", chat: "this chat", project: "this project", always: "always" };

/** The column Allowed by, of a call that has not ended. */
export function allowedSoFar(call: Pick<RunningCall, "gate" | "state">, rules: readonly PolicyRule[] = []): string {
  if (call.state === "asking") return "waiting for you";
  if (call.state === "waiting") return "not decided yet";
  return allowedBy({ gate: call.gate, outcome: "ok" }, rules);
}

/** The column Allowed by; `rules` are the user's, to name the one that decided. */
export function allowedBy(call: Pick<Call, "gate" | "outcome">, rules: readonly PolicyRule[] = []): string {
  const { gate } = call;
  if (!gate) return call.outcome === "invalid" || call.outcome === "cancelled" ? "–" : "no rule needed";
  if (gate.allowed === true)
    return gate.scope === "once" || !gate.scope ? "once, by you" : `${SCOPES[gate.scope]}, by you`;
  if (gate.allowed === false) return "denied by you";
  if (gate.number !== null) return `rule ${gate.number}${mark(rules.find((rule) => rule.id === gate.rule))}`;
  if (!gate.rule) return call.outcome === "denied" ? "no one available" : modeText(gate);
  if (gate.rule === "granted") return "this chat, by you";
  return /^[0-9a-f]{12}$/.test(gate.rule) ? "deleted rule" : builtInName(gate.rule);
}

/** What the rule is known by: where it holds, else why it is there. */
function mark(rule: PolicyRule | undefined): string {
  if (!rule) return "";
  if (rule.scope === "project") return " · project";
  if (rule.scope === "chat") return " · this chat";
  return rule.why && rule.why.length <= 24 ? ` · ${rule.why}` : "";
}

function modeText(gate: GateNote): string {
  if (gate.mode === "session") return "autonomous session";
  return gate.mode === "off" ? "approvals are off" : "no rule applied";
}

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

/** An approval rule as a form holds it: how conditions (is, matches, is in folder) become patterns, and typed values
 * numbers or text. Pure. */

import type { PolicyRule, RulePattern } from "../../api/types";

export interface Condition {
  name: string;
  how: "equals" | "like" | "under" | "any";
  text: string;
}

export interface RuleDraft {
  effect: PolicyRule["effect"];
  server: string;
  tool: string;
  conditions: Condition[];
  closed: boolean;
  project: string;
  why: string;
}

export const NEW: RuleDraft = {
  effect: "allow",
  server: "",
  tool: "",
  conditions: [],
  closed: false,
  project: "",
  why: "",
};

export function draftOf(rule: PolicyRule | null): RuleDraft {
  if (!rule) return NEW;
  return {
    effect: rule.effect,
    server: rule.server ?? "*",
    tool: rule.tool ?? "*",
    conditions: Object.entries(rule.arguments ?? {}).map(([name, pattern]) => ({ name, ...conditionOf(pattern) })),
    closed: rule.closed ?? false,
    project: rule.scope === "project" ? (rule.within ?? "") : "",
    why: rule.why ?? "",
  };
}

/** The rule to be saved; what the form does not show stays as it was. */
export function ruleOf(draft: RuleDraft, before: PolicyRule | null): { [key: string]: unknown } {
  const patterns = draft.conditions.filter((one) => one.name.trim()).map((one) => [one.name.trim(), patternOf(one)]);
  const chat = before?.scope === "chat" ? { scope: "chat", within: before.within } : null;
  return {
    effect: draft.effect,
    server: draft.server.trim() || "*",
    tool: draft.tool.trim() || "*",
    ...(patterns.length > 0 ? { arguments: Object.fromEntries(patterns) as unknown } : {}),
    ...(draft.closed ? { closed: true } : {}),
    ...(draft.closed && before?.exact ? { exact: true } : {}),
    ...(before?.definition && before.tool === draft.tool && before.server === draft.server
      ? { definition: before.definition }
      : {}),
    ...(before?.examples ? { examples: before.examples } : {}),
    ...(draft.project.trim() ? { scope: "project", within: draft.project.trim() } : (chat ?? {})),
    ...(draft.why.trim() ? { why: draft.why.trim() } : {}),
  };
}

function conditionOf(pattern: RulePattern): Omit<Condition, "name"> {
  if (pattern.any) return { how: "any", text: "" };
  if (pattern.under !== undefined) return { how: "under", text: pattern.under };
  return pattern.like !== undefined
    ? { how: "like", text: pattern.like }
    : { how: "equals", text: shown(pattern.equals) };
}

function patternOf({ how, text }: Condition): RulePattern {
  if (how === "any") return { any: true };
  if (how === "under") return { under: text.trim().replace(/(.)\/+(\*\*)?$/, "$1") };
  return how === "like" ? { like: text } : { equals: valueOf(text) };
}

function shown(value: unknown): string {
  return typeof value === "string" && valueOf(value) === value ? value : JSON.stringify(value);
}

/** Numbers, true, false, null, lists and objects as JSON; anything else is text. */
export function valueOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** Conditions as rows of a form: comparisons joined by "all" or "any"; deeper ones are edited as JSON. Pure. */

import { OPERATORS, UNARY_OPERATORS } from "../../../api/types";

export { OPERATORS };
export type Operator = (typeof OPERATORS)[number];

export interface Comparison {
  left: unknown;
  operator: Operator;
  right: unknown;
}

export interface Rows {
  join: "all" | "any";
  comparisons: Comparison[];
}

const EMPTY: Comparison = { left: undefined, operator: "equals", right: undefined };

export function newComparison(): Comparison {
  return { ...EMPTY };
}

/** Whether an operator compares with a second value. */
export function hasRight(operator: Operator): boolean {
  return !UNARY_OPERATORS.some((one) => one === operator);
}

/** The condition as rows; null if it is nested more deeply than rows can show. */
export function rowsOfCondition(condition: unknown): Rows | null {
  if (condition === undefined || condition === null) return { join: "all", comparisons: [newComparison()] };
  if (typeof condition !== "object" || Array.isArray(condition)) return null;
  const raw = condition as Record<string, unknown>;
  if ("not" in raw) return null;
  for (const join of ["all", "any"] as const) {
    if (!(join in raw)) continue;
    const parts = Array.isArray(raw[join]) ? raw[join] : [];
    const comparisons = parts.map(comparisonOf);
    return comparisons.every((one) => one !== null) ? { join, comparisons: comparisons as Comparison[] } : null;
  }
  const one = comparisonOf(raw);
  return one ? { join: "all", comparisons: [one] } : null;
}

export function conditionOf({ join, comparisons }: Rows): Record<string, unknown> {
  const parts = comparisons.map(partOf);
  return parts.length === 1 ? (parts[0] as Record<string, unknown>) : { [join]: parts };
}

function partOf({ left, operator, right }: Comparison): Record<string, unknown> {
  const part: Record<string, unknown> = { left: left ?? null, operator };
  if (hasRight(operator)) part["right"] = right ?? null;
  return part;
}

function comparisonOf(raw: unknown): Comparison | null {
  if (raw === null || typeof raw !== "object" || "all" in raw || "any" in raw || "not" in raw) return null;
  const { left, operator, right } = raw as Record<string, unknown>;
  const known = OPERATORS.find((one) => one === (operator ?? "equals"));
  return known ? { left: left ?? undefined, operator: known, right: right ?? undefined } : null;
}

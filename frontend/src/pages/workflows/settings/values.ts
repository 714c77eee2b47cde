/** The settings of a step as texts in fields: how typed text becomes a value or a reference, and the one-line summary
 * that a step shows before it has run. Pure. */

import { OPERATOR_WORDS } from "../../../api/types";
import { draftOf, readDrafts } from "../../../ui/schema-form/drafts";
import { named, type Field } from "../../../ui/schema-form/schema";
import type { Settings } from "../graph/file";
import { hasReference } from "../graph/references";
import { SETUP } from "../text/panel";
import { hasRight, rowsOfCondition } from "./conditions";

export interface Read {
  /** Undefined if the setting is left out. */
  value: unknown;
  wrong: string;
}

const WHOLE = /^\s*\{\{[^{}]*\}\}\s*$/;

/** What a field shows for a value. */
export function textOf(field: Field, value: unknown): string {
  if (typeof value === "string") return value;
  const draft = draftOf(field, value);
  return typeof draft === "string" ? draft : draft === undefined ? "" : named(value);
}

/** What was typed, as a value of the field's type; a reference stays a text. */
export function readText(field: Field, text: string): Read {
  if (WHOLE.test(text)) return { value: text.trim(), wrong: "" };
  if (hasReference(text) && field.kind !== "list" && field.kind !== "json") return { value: text, wrong: "" };
  if (field.kind === "list") return { value: listOf(field, text), wrong: "" };
  const { values, wrong } = readDrafts([{ ...field, required: false }], { [field.name]: text });
  return { value: values[field.name], wrong: wrong[field.name] ?? "" };
}

/** Lines; numbers where the list holds numbers and the line is no reference. */
function listOf(field: Field, text: string): unknown[] | undefined {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  if (lines.length === 0) return undefined;
  if (field.item === "text") return lines;
  return lines.map((line) => (line !== "" && Number.isFinite(Number(line)) ? Number(line) : line));
}

/** The settings with one of them changed; undefined leaves it out. */
export function withSetting(settings: Settings, name: string, value: unknown): Settings {
  const { [name]: _before, ...rest } = settings;
  return value === undefined ? rest : { ...settings, [name]: value };
}

/** A value of any type from a text: JSON if it is, else the text itself. */
export function anyValue(text: string): unknown {
  if (text.trim() === "") return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** A value of any type as a text that `anyValue` reads back; nothing and an empty text look the same. */
export function anyText(value: unknown): string {
  if (value === undefined || value === null || value === "") return "";
  if (typeof value !== "string") return JSON.stringify(value);
  return anyValue(value) === value ? value : JSON.stringify(value);
}

const LONGEST = 120;

/** What stands for a step on the canvas when it has not run: its most telling setting in one line. */
export function summaryOf(settings: Settings): string {
  for (const key of ["condition", "exit_condition"]) if (settings[key]) return line(conditionText(settings[key]));
  const { tool, arguments: given, ...others } = settings;
  if (typeof tool === "string") return anyText(given) === "{}" ? "" : summaryOf({ given });
  const found = Object.values(others).find((value) => typeof value === "string" && value !== "");
  if (found !== undefined) return line(String(found));
  const [first] = Object.values(settings).filter((value) => value !== null && value !== undefined);
  if (first === undefined) return "";
  if (typeof first !== "object" || Array.isArray(first) || first === null) return line(anyText(first));
  return line(
    Object.entries(first)
      .map(([name, value]) => `${name} = ${anyText(value)}`)
      .join(", "),
  );
}

/** One line, with references by their names. */
function line(text: string): string {
  return text
    .replace(/\{\{\s*([^{}]+?)\s*\}\}/g, "$1")
    .replace(/\s+/g, " ")
    .slice(0, LONGEST);
}

function conditionText(condition: unknown): string {
  const rows = rowsOfCondition(condition);
  if (!rows) return JSON.stringify(condition);
  return rows.comparisons
    .map((one) =>
      [anyText(one.left), OPERATOR_WORDS[one.operator], hasRight(one.operator) ? anyText(one.right) : ""]
        .join(" ")
        .trim(),
    )
    .join(rows.join === "all" ? ` ${SETUP.and} ` : ` ${SETUP.or} `);
}

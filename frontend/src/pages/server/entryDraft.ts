/** How a server is run or reached, as rows of the form in the tab Settings: command, arguments, variables, address,
 * headers, working folder; and the entry made of them again. Everything else in the entry stays unchanged. Pure. */

import { ApiError } from "../../api/errors";
import { put, type Json } from "./settings";

/** A variable or a header. */
export interface Pair {
  name: string;
  value: string;
  /** To be stored as a secret, whatever it looks like. */
  secret: boolean;
  /** Its value in the entry, which may be a number, or null for a variable that is removed. */
  was?: unknown;
}

export interface Draft {
  texts: Readonly<Record<string, string>>;
  args: readonly string[];
  env: readonly Pair[];
  headers: readonly Pair[];
}

export type Errors = Readonly<Record<string, string>>;

/** The keys with one line of text, in the order of the form. */
export const TEXT_KEYS = ["url", "httpUrl", "serverUrl", "uri", "command", "module", "cwd"] as const;
export type TextKey = (typeof TEXT_KEYS)[number];
export type PairKey = "env" | "headers";
const FORM_KEYS: readonly string[] = [...TEXT_KEYS, "args", "env", "headers"];

/** The rows of an entry. */
export function draftOf(entry: Json): Draft {
  const texts = TEXT_KEYS.filter((key) => typeof entry[key] === "string");
  return {
    texts: Object.fromEntries(texts.map((key) => [key, String(entry[key])])),
    args: isList(entry["args"]) ? entry["args"] : [],
    env: pairsOf(entry["env"]),
    headers: pairsOf(entry["headers"]),
  };
}

function pairsOf(value: unknown): Pair[] {
  if (!isPlain(value)) return [];
  return Object.entries(value).map(([name, was]) => ({ name, value: textOf(was), secret: false, was }));
}

/** The entry with the rows of the form. */
export function withDraft(entry: Json, draft: Draft): Json {
  const { texts, args, env, headers } = draft;
  let next = entry;
  for (const key of TEXT_KEYS) if (fits(entry, key)) next = put(next, [key], texts[key]?.trim() || undefined);
  if (fits(entry, "args")) next = put(next, ["args"], args.length > 0 ? args : undefined);
  for (const [key, pairs] of [["env", env] as const, ["headers", headers] as const])
    if (fits(entry, key)) next = put(next, [key], pairs.length > 0 ? objectOf(pairs) : undefined);
  return next;
}

function objectOf(pairs: readonly Pair[]): Json {
  return Object.fromEntries(
    pairs.map(({ name, value, was }) => [name.trim(), was !== undefined && textOf(was) === value ? was : value]),
  );
}

/** Whether the form can show this key; one that is written in another form is left as it is. */
export function fits(entry: Json, key: string): boolean {
  const value = entry[key];
  if (value === undefined) return true;
  if (key === "args") return isList(value);
  return key === "env" || key === "headers" ? isPlain(value) : typeof value === "string";
}

/** The part of the entry that the form shows, to tell whether somebody else changed it. */
export function formPart(entry: Json): string {
  return JSON.stringify(FORM_KEYS.map((key) => entry[key] ?? null));
}

/** The names of the variables and headers to store as secrets. */
export function chosenSecrets({ env, headers }: Draft): string[] {
  return [...env, ...headers].filter((pair) => pair.secret).map((pair) => pair.name.trim());
}

/** What is wrong with the rows, by `args.0` or `env.2`; the host finds the rest. */
export function errorsOf(draft: Draft, before: Draft): Errors {
  const found: Record<string, string> = {};
  draft.args.forEach((text, index) => {
    if (text === "" && !before.args.includes("")) found[`args.${index}`] = "Enter a value, or remove this row.";
  });
  for (const key of ["env", "headers"] as const) {
    const names = draft[key].map((pair) => pair.name.trim());
    names.forEach((name, index) => {
      if (name === "") found[`${key}.${index}`] = "Enter a name, or remove this row.";
      else if (names.indexOf(name) < index) found[`${key}.${index}`] = `“${name}” is above already.`;
    });
  }
  return found;
}

/** The error of the host, by the field that it is about; empty if it is about none. */
export function fieldErrors(error: unknown, draft?: Draft): Errors {
  const data = error instanceof ApiError ? error.details["data"] : null;
  const found = data !== null && typeof data === "object" && "path" in data ? data.path : null;
  const path = Array.isArray(found) ? found.map(String) : [];
  if (path.length === 0 || !(error instanceof ApiError)) return {};
  const [key = "", part = ""] = path;
  const row = draft && (key === "env" || key === "headers") ? draft[key].findIndex((pair) => pair.name === part) : -1;
  const words = error.message.replace(/^.*?: /, "");
  return { [row >= 0 ? `${key}.${row}` : path.join(".")]: words.charAt(0).toUpperCase() + words.slice(1) };
}

export function moved<T>(list: readonly T[], from: number, to: number): T[] {
  const next = list.filter((_, index) => index !== from);
  next.splice(to, 0, list[from] as T);
  return next;
}

function textOf(value: unknown): string {
  return value === null ? "" : String(value);
}

function isList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

function isPlain(value: unknown): value is Json {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((one) => typeof one !== "object" || one === null);
}

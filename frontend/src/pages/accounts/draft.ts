/** The form of an account: suggested name, characters and length of names, required fields, fields that are folded
 * away, and what is sent. Secrets are never part of a draft. */

import { FORM } from "./text";
import type { Account, AddRequest, Field, Provider } from "./types";

export interface Draft {
  name: string;
  values: Record<string, string>;
  readOnly: boolean;
  /** The account that is changed; empty for a new one. */
  replaced: string;
}

/** What is wrong, by the key of a field; `NAME` for the account's name. */
export type Problems = Record<string, string>;
export const NAME = ":name"; // No field of a provider has this key.

const NAMED = /^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$/;

export function newDraft(provider: Provider, taken: readonly string[]): Draft {
  return { name: freeName(provider.provider, taken), values: defaults(provider), readOnly: false, replaced: "" };
}

/** The form for an account that exists, without its secrets. */
export function draftOf(account: Account, provider: Provider): Draft {
  const known: Record<string, unknown> = { user: account.user, ...account.settings };
  const values = { ...defaults(provider) };
  for (const { key, secret } of provider.fields) {
    const value = known[key] ?? serverOf(known, key);
    if (!secret && value !== undefined) values[key] = String(value);
  }
  return { name: account.name, values, readOnly: account.read_only, replaced: account.name };
}

/** `HOST:PORT`, which an account stores in two settings. */
function serverOf(settings: Record<string, unknown>, key: string): string | undefined {
  const [host, port] = [settings[`${key}_host`], settings[`${key}_port`]];
  return host === undefined ? undefined : [host, port].filter((one) => one !== undefined).join(":");
}

function defaults({ fields }: Provider): Record<string, string> {
  return Object.fromEntries(fields.filter((field) => !field.secret).map((field) => [field.key, field.default]));
}

function freeName(wanted: string, taken: readonly string[]): string {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? wanted : `${wanted}-${number}`;
    if (!taken.includes(name)) return name;
  }
}

export function problemsOf(
  draft: Draft,
  secrets: Readonly<Record<string, string>>,
  fields: readonly Field[],
  taken: readonly string[],
): Problems {
  const problems: Problems = {};
  if (!NAMED.test(draft.name)) problems[NAME] = draft.name ? FORM.badName : FORM.required;
  else if (draft.name !== draft.replaced && taken.includes(draft.name)) problems[NAME] = FORM.taken;
  for (const { key, secret, required } of fields) {
    const value = (secret ? secrets[key] : draft.values[key]) ?? "";
    if (required && value.trim() === "") problems[key] = FORM.required;
  }
  return problems;
}

/** What is sent: empty values are left to the host. */
export function requestOf(draft: Draft, secrets: Readonly<Record<string, string>>, provider: Provider): AddRequest {
  const given = Object.entries(draft.values).map(([key, value]): [string, string] => [key, value.trim()]);
  const filled = [...given, ...Object.entries(secrets)].filter(([, value]) => value !== "");
  return {
    provider: provider.provider,
    name: draft.name,
    values: Object.fromEntries(filled),
    read_only: draft.readOnly,
    replace: draft.replaced !== "",
  };
}

/** What everyone fills in, and what only some need: that is folded away if there is enough of it. */
export function fieldGroups(fields: readonly Field[]): { first: readonly Field[]; more: readonly Field[] } {
  const more = fields.filter((field) => !field.required);
  const first = fields.filter((field) => field.required);
  return first.length > 0 && more.length > 1 ? { first, more } : { first: fields, more: [] };
}

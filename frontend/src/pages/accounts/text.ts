/** Every text about accounts: labels, error messages of names, sign-in, and what stops working after a removal. */

import type { Account, Provider } from "./types";

export const TEXT = {
  title: "Accounts",
  about: "Mail, calendars and other services that tools may use. Passwords and tokens are stored as secrets.",
  empty: "No accounts yet. Add one to use mail, a calendar, Discord or Canvas.",
  add: "Add account",
  readOnly: "Read only",
  test: "Test",
  edit: "Edit",
  remove: "Remove…",
  testing: "Testing…",
  works: "Works",
  failed: "Failed",
  notTested: "Not tested",
  unused: "used by no server",
} as const;

export const FORM = {
  choose: "Add an account",
  chooseAbout: "Choose where the account is.",
  name: "Name",
  nameHelp: "Identifies this account when you have several.",
  readOnlyAbout: "Tools can read with this account, but not send, change or delete anything.",
  optional: "optional",
  choice: "Choose…",
  automatic: "Automatic",
  chooseFile: "Choose file",
  tooLarge: "Too large.",
  more: "More settings",
  stored: "Stored as a secret, never in the file",
  again: "Enter this again.",
  required: "Required.",
  badName: "Use up to 40 letters, digits, dots, dashes and underscores, starting with a letter or digit.",
  taken: "That name is already used.",
  back: "Back",
  cancel: "Cancel",
  save: "Test and save",
  saving: "Testing…",
  signIn: "Continue to sign-in",
  done: "Done",
} as const;

export const SIGN_IN = {
  about: "The sign-in page opens in a new tab. Come back here when you are done.",
  address: "This is its full address.",
  never: "Toolcrib never sees your password",
  open: "Open sign-in page",
  waiting: "Waiting for you to sign in",
  badAddress: "The sign-in address cannot be opened.",
} as const;

export const REMOVE = {
  title: (name: string) => `Remove ${name}?`,
  secret: "Its password or token is deleted. This cannot be undone.",
  keep: "Keep",
  remove: "Remove",
  removing: "Removing…",
  removed: (name: string) => `Removed the account “${name}”.`,
} as const;

export function formTitle(provider: Provider, replaced: string): string {
  return replaced ? `Edit ${replaced}` : `Add ${provider.title}`;
}

/** `Google · ann@example.org`. */
export function accountText(account: Account): string {
  return [account.title || account.provider, account.user].filter(Boolean).join(" · ");
}

/** What stops working without this account, and what goes on with another one. */
export function removalTexts(account: Account, accounts: readonly Account[]): string[] {
  const others = (server: string) =>
    accounts.filter((one) => one.name !== account.name && one.servers.includes(server)).map((one) => one.name);
  const alone = account.servers.filter((server) => others(server).length === 0);
  const goOn = account.servers.filter((server) => others(server).length > 0);
  if (account.servers.length === 0) return ["No server uses it."];
  return [
    alone.length ? `${list(alone)} will stop working until you add another account.` : "",
    ...goOn.map((server) => `${server} keeps working with ${list(others(server))}.`),
  ].filter(Boolean);
}

export function addedText(added: { identity: string }): string {
  return added.identity ? `Signed in as ${added.identity}.` : "Signed in.";
}

export function serversText(servers: readonly string[]): string {
  return servers.length ? `Turned on: ${list(servers)}.` : "";
}

/** `a`, `a and b`, `a, b and c`. */
export function list(names: readonly string[]): string {
  if (names.length < 2) return names.join("");
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1) ?? ""}`;
}

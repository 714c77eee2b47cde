/** Accounts and providers for tests, in the shapes of the host's answers. */

import type { Account, Field, Provider } from "./types";

export function field(key: string, changes: Partial<Field> = {}): Field {
  return { key, label: key, help: "", secret: false, required: true, default: "", choices: [], ...changes };
}

export const IMAP: Provider = {
  provider: "imap",
  title: "Mail (IMAP)",
  about: "Any mailbox.",
  services: ["mail"],
  fields: [
    field("user"),
    field("password", { secret: true }),
    field("imap", { required: false }),
    field("security", { required: false, default: "tls", choices: ["tls", "starttls", "plain"] }),
  ],
  sign_in: false,
};

export function account(name: string, changes: Partial<Account> = {}): Account {
  return {
    name,
    provider: "imap",
    title: "Mail (IMAP)",
    user: `${name}@example.org`,
    read_only: false,
    services: ["mail"],
    servers: ["mail"],
    settings: {},
    ...changes,
  };
}

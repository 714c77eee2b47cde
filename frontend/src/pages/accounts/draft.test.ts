import { expect, test } from "vitest";

import { draftOf, fieldGroups, NAME, newDraft, problemsOf, requestOf } from "./draft";
import { account, field, IMAP } from "./samples";

test("a new account gets a free name and the defaults of its provider", () => {
  const draft = newDraft(IMAP, ["imap", "imap-2"]);
  expect(draft.name).toBe("imap-3");
  expect(draft.values).toEqual({ user: "", imap: "", security: "tls" });
});

test("a draft never has a place for a secret", () => {
  expect(newDraft(IMAP, []).values).not.toHaveProperty("password");
  const changed = draftOf(account("work", { settings: { imap: "mail.example.org:993", password: "no" } }), IMAP);
  expect(changed.values).toEqual({ user: "work@example.org", imap: "mail.example.org:993", security: "tls" });
});

test("a server that is stored as host and port is filled in again", () => {
  const settings = { imap_host: "mail.example.org", imap_port: 1993 };
  expect(draftOf(account("work", { settings }), IMAP).values["imap"]).toBe("mail.example.org:1993");
});

test("what is missing is named at its field, also a secret", () => {
  const draft = { ...newDraft(IMAP, []), name: "" };
  expect(problemsOf(draft, {}, IMAP.fields, [])).toEqual({
    [NAME]: "Required.",
    user: "Required.",
    password: "Required.",
  });
});

test("a name must be free, except for the account that is changed", () => {
  const filled = { name: "work", values: { user: "ann@example.org" }, readOnly: false, replaced: "" };
  const secrets = { password: "pw" };
  expect(problemsOf(filled, secrets, IMAP.fields, ["work"])).toEqual({ [NAME]: "That name is already used." });
  expect(problemsOf({ ...filled, replaced: "work" }, secrets, IMAP.fields, ["work"])).toEqual({});
  expect(problemsOf({ ...filled, name: "a/b" }, secrets, IMAP.fields, [])[NAME]).toContain("letters");
});

test("the request leaves out what was left empty and keeps a password exactly", () => {
  const draft = { name: "work", values: { user: " ann@example.org ", imap: " " }, readOnly: true, replaced: "" };
  expect(requestOf(draft, { password: " p w " }, IMAP)).toEqual({
    provider: "imap",
    name: "work",
    values: { user: "ann@example.org", password: " p w " },
    read_only: true,
    replace: false,
  });
});

test("several optional fields are folded away, a single one is not", () => {
  const names = (fields: readonly { key: string }[]) => fields.map((one) => one.key);
  const groups = fieldGroups(IMAP.fields);
  expect(names(groups.first)).toEqual(["user", "password"]);
  expect(names(groups.more)).toEqual(["imap", "security"]);
  const one = fieldGroups([field("url"), field("token", { required: false })]);
  expect(names(one.first)).toEqual(["url", "token"]);
  expect(one.more).toEqual([]);
});

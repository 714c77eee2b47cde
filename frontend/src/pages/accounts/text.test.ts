import { expect, test } from "vitest";

import { account } from "./samples";
import { accountText, list, removalTexts, serversText } from "./text";

test("removing the only account of a server says that the server stops", () => {
  const only = account("work", { servers: ["mail", "calendar"] });
  expect(removalTexts(only, [only])).toEqual(["mail and calendar will stop working until you add another account."]);
});

test("a server with another account goes on with that", () => {
  const work = account("work", { servers: ["mail", "calendar"] });
  const home = account("home", { servers: ["mail"] });
  expect(removalTexts(work, [home, work])).toEqual([
    "calendar will stop working until you add another account.",
    "mail keeps working with home.",
  ]);
});

test("an account that no server uses is removed without consequences", () => {
  expect(removalTexts(account("old", { servers: [] }), [])).toEqual(["No server uses it."]);
});

test("an account is described by its provider and user", () => {
  expect(accountText(account("work"))).toBe("Mail (IMAP) · work@example.org");
  expect(accountText(account("bot", { title: "", provider: "discord", user: "" }))).toBe("discord");
});

test("names are listed as in a sentence", () => {
  expect(list([])).toBe("");
  expect(list(["a"])).toBe("a");
  expect(list(["a", "b", "c"])).toBe("a, b and c");
  expect(serversText(["mail", "calendar"])).toBe("Turned on: mail and calendar.");
  expect(serversText([])).toBe("");
});

import { expect, test } from "vitest";

import { titleParts } from "./title";

test("the title names what is shown before its page", () => {
  expect(titleParts("/servers", null)).toEqual(["Servers"]);
  expect(titleParts("/servers/post%20gres", null)).toEqual(["post gres", "Servers"]);
  expect(titleParts("/workflows/bills", "bills")).toEqual(["bills", "Workflows"]);
  expect(titleParts("/activity", null)).toEqual(["Activity"]);
});

test("a chat is named by its title alone, and what has no place by its own name", () => {
  expect(titleParts("/chat/1", "Nightly export fails")).toEqual(["Nightly export fails"]);
  expect(titleParts("/chat/1", null)).toEqual(["Chat"]);
  expect(titleParts("/welcome", "Welcome")).toEqual(["Welcome"]);
  expect(titleParts("/nowhere/at/all", null)).toEqual(["Page not found"]);
});

import { expect, test } from "vitest";

import type { PolicyRule } from "../../api/types";
import { draftOf, ruleOf } from "./ruleDraft";

const rule = {
  id: "1",
  effect: "allow",
  server: "files",
  tool: "write",
  closed: true,
  number: 1,
  words: "",
  place: "",
  enabled: true,
  used: 0,
  last_used: null,
  asleep: null,
  inactive: null,
  decided_by: "",
  decided_on: "",
  decided_at: null,
  arguments: { path: { under: "/home/ada/code" }, content: { any: true }, mode: { equals: 7 }, name: { like: "a*" } },
} satisfies PolicyRule;

test("a rule that is opened in the form and saved means the same", () => {
  expect(ruleOf(draftOf(rule), rule)["arguments"]).toEqual(rule.arguments);
});

test("a folder may be written with what stands for all in it", () => {
  const draft = draftOf(rule);
  const folders = ["/home/ada/code/**", "/home/ada/code/", "/"].map(
    (text) => ruleOf({ ...draft, conditions: [{ name: "path", how: "under", text }] }, null)["arguments"],
  );
  expect(folders).toEqual([
    { path: { under: "/home/ada/code" } },
    { path: { under: "/home/ada/code" } },
    { path: { under: "/" } },
  ]);
});

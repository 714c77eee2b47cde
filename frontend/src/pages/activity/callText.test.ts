import { expect, test } from "vitest";

import type { Call, GateNote, PolicyRule } from "../../api/types";
import { allowedBy, allowedSoFar } from "./callText";

const said = (gate: Partial<GateNote> | null, outcome: Call["outcome"] = "ok", rules: PolicyRule[] = []) =>
  allowedBy({ outcome, gate: gate && { rule: null, number: null, reason: "", ...gate } }, rules);

test("what let a call through is named: that it reads, a rule, the mode, or nobody was to be asked", () => {
  expect(said({ rule: "own_reading" })).toBe("read-only");
  expect(said({ rule: "shell" })).toBe("command check");
  expect(said({ mode: "on_rule" })).toBe("no rule applied");
  expect(said({ mode: "off" })).toBe("approvals are off");
  expect(said(null)).toBe("no rule needed");
});

test("a built-in rule has its own name, a rule of the user that is gone has none", () => {
  expect(said({ rule: "shell" }, "denied")).toBe("command check");
  expect(said({ rule: "0123456789ab" })).toBe("deleted rule");
  expect(said({ rule: "of_a_package" })).toBe("of a package");
});

test("a rule is told with where it holds", () => {
  const rule = { id: "r1", number: 1, scope: "project" } as PolicyRule;
  expect(said({ rule: "r1", number: 1 }, "ok", [rule])).toBe("rule 1 · project");
  expect(said({ rule: "r2", number: 2 }, "ok", [rule])).toBe("rule 2");
});

test("a person's word comes before the rule that it wrote", () => {
  expect(said({ rule: "asked", allowed: true, scope: "chat" })).toBe("this chat, by you");
  expect(said({ rule: "asked", allowed: false }, "denied")).toBe("denied by you");
});

test("nothing has allowed a call that still waits", () => {
  expect(allowedSoFar({ state: "waiting", gate: null })).toBe("not decided yet");
  expect(allowedSoFar({ state: "asking", gate: null })).toBe("waiting for you");
  expect(allowedSoFar({ state: "running", gate: null })).toBe("no rule needed");
});

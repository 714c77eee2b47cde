import { describe, expect, test } from "vitest";

import { ruleName, stoppedText, tookText, waitsAfter, noteToModel } from "./callText";
import { applyEvents } from "./turnReducer";
import type { CallView, ChatEvent } from "./view";

const began: ChatEvent = {
  event: "call",
  id: "c1",
  tool: "box__echo",
  server: "box",
  name: "echo",
  arguments: { text: "hi" },
};
const result = { ...began, event: "result", ms: 41_000, text: "", images: 0, rule: "" } as const;

function call(...events: ChatEvent[]): CallView {
  const [item] = applyEvents(events).items;
  if (item?.kind !== "call") throw new Error("no call");
  return item;
}

describe("a call that waits", () => {
  test("says after how many, and runs in its own place", () => {
    const queued = (id: string): ChatEvent => ({ ...began, event: "queued", id });
    const turn = applyEvents([began, queued("c2"), queued("c3")]);
    const calls = turn.items.filter((item) => item.kind === "call");
    expect(calls.map((one) => tookText(one, 0, [], waitsAfter(one, calls)))).toEqual([
      "",
      "after 1 other",
      "after 2 others",
    ]);
    const later = applyEvents([{ ...began, id: "c2" }], turn).items.filter((item) => item.kind === "call");
    expect(later.map((one) => one.outcome)).toEqual(["running", "running", "waiting"]);
  });

  test("keeps what the person said of it when it runs at last", () => {
    const asking = {
      event: "asking",
      about: "call",
      id: "q1",
      server: "box",
      text: "",
      call: "c1",
      detail: {},
    } as ChatEvent;
    const said: ChatEvent = { event: "answered", id: "q1", action: "accept", scope: "chat", message: "" };
    expect(call(began, { ...began, event: "queued" }, asking, said, began)).toMatchObject({
      outcome: "running",
      answered: { scope: "chat" },
    });
  });
});

describe("who decided", () => {
  const rules = [{ id: "0123456789ab", number: 5 }];
  test("a rule of the person has its number, one of ours its name", () => {
    expect(ruleName("0123456789ab", rules)).toBe("rule 5");
    expect(ruleName("ba9876543210", rules)).toBe("a deleted rule");
    expect(ruleName("own_reading", rules)).toBe("built-in rule “read-only”");
  });

  test("a person who was asked because of a rule has denied it, not the rule", () => {
    const text = "The call of box__echo was refused: Not today.\nThe rule shell decided this.";
    const denied = call(began, { ...result, outcome: "denied", rule: "asked", text });
    expect(tookText(denied, 0)).toBe("by you");
    expect(noteToModel(denied)).toBe("Not today");
    expect(tookText(call(began, { ...result, outcome: "denied", rule: "0123456789ab", text }), 0, rules)).toBe(
      "by rule 5",
    );
  });
});

test("a call that was stopped says how far it came and what ended", () => {
  const progress: ChatEvent = { event: "progress", id: "c1", progress: 1020, total: 2300, message: null };
  const text =
    "This call was interrupted before it answered. It may or may not have had an effect. 5 processes of it ended.";
  const stopped = call(began, progress, { ...result, outcome: "cancelled", text });
  expect(stoppedText(stopped)).toBe(
    "Stopped after 1,020 of 2,300. The process and its 4 children ended; nothing is left running.",
  );
  expect(tookText(stopped, 0)).toBe("by you · 41 s");
  expect(stoppedText(call(began, { ...result, outcome: "cancelled", text: "" }))).toBe("Nothing is left running.");
});

import { describe, expect, test } from "vitest";

import { applyEvent, applyEvents } from "./turnReducer";
import { blocks, grouped, sentences } from "./groups";
import { newTurn, openQuestions, type Asking, type ChatEvent } from "./view";

const call: ChatEvent = {
  event: "call",
  id: "c1",
  tool: "box__echo",
  server: "box",
  name: "echo",
  arguments: { text: "hi" },
};
const usage = { input: 1, output: 1, cached: 0, requests: 1 };
const asking = {
  event: "asking",
  about: "elicitation",
  id: "q1",
  server: "box",
  text: "Which?",
  call: null,
  detail: {},
} as Asking;

describe("a turn that is told", () => {
  test("joins the words of a round and parts those of two", () => {
    const turn = applyEvents([
      { event: "text", text: "One " },
      { event: "text", text: "two." },
      { event: "round", round: 1, usage, text: "One two." },
      { event: "text", text: "Three." },
    ]);
    expect(turn.items.map((item) => (item.kind === "text" ? item.text : ""))).toEqual(["One two.", "Three."]);
    expect(turn.usage).toEqual(usage);
  });

  test("puts what continues an interrupted answer after what was kept of it", () => {
    const kept = {
      ...newTurn(),
      running: false,
      ending: "interrupted",
      items: [{ kind: "text" as const, key: "t0", round: 0, text: "Once upon" }],
    };
    const turn = applyEvents(
      [
        { event: "question", text: null, images: [], pictures: 0, time: "" },
        { event: "text", text: "a time." },
      ],
      kept,
    );
    expect(turn.items.map((item) => (item.kind === "text" ? item.text : ""))).toEqual(["Once upon", "a time."]);
    expect([turn.running, turn.ending]).toEqual([true, null]);
  });

  test("takes the whole text of a round whose words were missed", () => {
    const turn = applyEvents([
      { event: "text", text: "two." },
      { event: "round", round: 1, usage, text: "One two." },
    ]);
    expect(turn.items.map((item) => (item.kind === "text" ? item.text : ""))).toEqual(["One two."]);
  });

  test("forgets the words of a round that is asked for again", () => {
    const turn = applyEvents([
      { event: "text", text: "Half" },
      { event: "again", reason: "broke off" },
      { event: "text", text: "Whole." },
    ]);
    expect(turn.items.flatMap((item) => (item.kind === "text" ? [item.text] : []))).toEqual(["Whole."]);
  });

  test("ends what still runs when it is stopped", () => {
    const turn = applyEvents([
      call,
      asking,
      {
        event: "ended",
        chat: "x",
        model: "m",
        answer: "",
        ending: "stopped",
        rounds: 0,
        calls: 0,
        usage,
        cost: null,
        error: null,
      },
    ]);
    expect(turn.items.map((item) => (item.kind === "call" ? item.outcome : item.kind))).toEqual(["cancelled", "note"]);
    expect(openQuestions(turn)).toEqual([]);
  });

  test("keeps a notice among what happened", () => {
    const turn = applyEvents([
      { event: "notice", text: "The model cannot see pictures." },
      { event: "text", text: "Hello." },
    ]);
    expect(turn.items.flatMap((item) => (item.kind === "note" ? [[item.note, item.text]] : []))).toEqual([
      ["notice", "The model cannot see pictures."],
    ]);
  });

  test("closes a question that somebody else answered", () => {
    const turn = applyEvents([asking]);
    expect(openQuestions(turn)).toHaveLength(1);
    expect(
      openQuestions(applyEvent(turn, { event: "answered", id: "q1", action: "accept", scope: "once", message: "" })),
    ).toEqual([]);
  });

  test("says that the model is busy until something else is told", () => {
    const busy = applyEvent(newTurn(), { event: "busy", reason: "429", seconds: 2 }, 1000);
    expect(busy.busy).toEqual({ reason: "429", until: 3000 });
    expect(applyEvent(busy, { event: "text", text: "Hi" }).busy).toBeNull();
  });
});

describe("what is drawn", () => {
  test("joins cards that follow one another, and parts a question from them", () => {
    const turn = applyEvents([call, { ...call, id: "c2" }, { ...asking, call: "c2" } as Asking]);
    expect(grouped(turn.items).map((group) => group.kind)).toEqual(["cards", "one"]);
  });

  test("parts a text at its paragraphs and never inside code", () => {
    expect(blocks("One.\n\nTwo.\n\n```\na\n\nb\n```\n\n- x\n\n- y")).toEqual([
      "One.\n",
      "Two.\n",
      "```\na\n\nb\n```\n\n- x\n\n- y",
    ]);
  });

  test("gives whole sentences", () => {
    expect(sentences("One. Two is not")).toBe("One.");
    expect(sentences("Nothing yet")).toBe("");
  });
});

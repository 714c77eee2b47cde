/** The page makes of recorded events the turn that the host's reducer (`chats/reducer.py`) makes of them. */

import { expect, test } from "vitest";

import type { ChatTurn } from "../../api/types";
import { applyEvent } from "./turnReducer";
import { keptTurn, newTurn, type CallView, type ChatEvent, type ItemView, type TurnView } from "./view";

interface Recording {
  before: ChatTurn | null;
  events: ChatEvent[];
  turn: object;
}

const NOW = Date.parse("2026-01-01T00:00:00Z");
const recordings = import.meta.glob<Recording>("../../../../tests/chats/recorded/*.json", {
  eager: true,
  import: "default",
});

/** The form of `turn_record` in `tests/chats/recording.py`: without keys, positions and the clock of this page. */
function record(turn: TurnView): object {
  return {
    question: turn.question?.text ?? null,
    time: turn.time,
    offered: turn.offered.map((tool) => tool.tool),
    of: turn.of,
    note: turn.note,
    model: turn.model,
    running: turn.running,
    busy: turn.busy?.reason ?? null,
    ending: turn.ending,
    usage: turn.usage,
    cost: turn.cost,
    error: turn.error?.message ?? null,
    items: turn.items.map(itemRecord),
  };
}

function itemRecord(item: ItemView): object {
  if (item.kind === "note") return { kind: item.kind, note: item.note, text: item.text };
  if (item.kind === "question") return { kind: item.kind, asking: item.asking.id };
  return item.kind === "call" ? callRecord(item) : { kind: item.kind, text: item.text };
}

function callRecord(call: CallView): object {
  const { kind, id, tool, server, name, outcome, ms, text, pictures, rule, progress, answered } = call;
  return {
    ...{ kind, id, tool, server, name, outcome, ms, text, pictures, rule },
    arguments: call.arguments,
    by_hand: call.byHand,
    progress: progress && [progress.done, progress.total, progress.message],
    asking: call.asking?.id ?? null,
    answered: answered && [answered.action, answered.scope, answered.message],
  };
}

test("there are recordings", () => {
  expect(Object.keys(recordings).length).toBeGreaterThan(20);
});

test.each(Object.entries(recordings))("%s", (_, recording) => {
  const first = recording.before ? keptTurn(recording.before) : newTurn();
  const turn = recording.events.reduce((known, event) => applyEvent(known, event, NOW), first);
  expect(record(turn)).toEqual(recording.turn);
});

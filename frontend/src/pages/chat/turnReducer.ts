/** The effect of each event on a turn, as in `chats/reducer.py`; both are tested with the same recorded turns. Pure. */

import type { BusyEvent, EndedEvent, ResultEvent, RoundEvent, TokenUsage } from "../../api/types";
import { characters } from "../../ui/amounts";
import { newTurn, type Asking, type CallView, type ChatEvent, type ItemView, type TurnView } from "./view";

export function applyEvent(turn: TurnView, event: ChatEvent, now: number = Date.now()): TurnView {
  if (event.event === "busy") return { ...turn, busy: { reason: event.reason, until: now + event.seconds * 1000 } };
  const next = folded(turn, event, now);
  return next.busy ? { ...next, busy: null } : next;
}

function folded(turn: TurnView, event: Exclude<ChatEvent, BusyEvent>, now: number): TurnView {
  switch (event.event) {
    case "question":
      if (event.text === null) return continued(turn);
      return {
        ...turn,
        question: { text: event.text, images: event.images, files: event.files ?? [] },
        time: event.time,
      };
    case "began":
      return { ...turn, model: event.model };
    case "offered":
      return { ...turn, offered: [...turn.offered, ...event.tools], of: event.of, note: event.note || turn.note };
    case "text":
    case "thinking":
      return { ...turn, items: withWords(turn, event.event, event.text) };
    case "again":
      return { ...turn, items: [...withoutRound(turn), note(turn, "again", event.reason)] };
    case "notice":
      return { ...turn, items: [...turn.items, note(turn, "notice", event.text)] };
    case "queued":
      return { ...turn, items: put(turn, newCall(event, now), { outcome: "waiting", began: null }) };
    case "call":
      return { ...turn, items: put(turn, newCall(event, now), { outcome: "running", began: now }) };
    case "progress":
      return change(turn, event.id, (call) => ({
        ...call,
        progress: { done: event.progress, total: event.total, message: event.message },
      }));
    case "result":
      return change(turn, event.id, (call) => ended(call, event));
    case "asking":
      return asked(turn, event);
    case "answered":
      return answered(turn, event.id, { action: event.action, scope: event.scope, message: event.message });
    case "compacted":
      return { ...turn, items: [...turn.items, note(turn, "shortened", "", new Date(now).toISOString())] };
    case "round":
      return { ...turn, round: turn.round + 1, items: wholeRound(turn, event), usage: added(turn.usage, event.usage) };
    case "ended":
      return over(turn, event, now);
    default:
      // An event that this page does not know, such as one of a newer host.
      return turn;
  }
}

export function applyEvents(events: readonly ChatEvent[], into: TurnView = newTurn()): TurnView {
  return events.reduce((turn, event) => applyEvent(turn, event), into);
}

/** The answer of this turn is continued, or the user runs a call by hand after it. */
function continued(turn: TurnView): TurnView {
  const { ending, usage, cost, model, error } = turn;
  const before = { ending, usage, cost, model, error, items: turn.items.length };
  return { ...turn, running: true, ending: null, error: null, round: turn.round + 1, before };
}

function withWords(turn: TurnView, kind: "text" | "thinking", text: string): ItemView[] {
  const last = turn.items.at(-1);
  if (last?.kind === kind && last.round === turn.round) {
    return [...turn.items.slice(0, -1), { ...last, text: last.text + text }];
  }
  return [...turn.items, { kind, key: textKey(turn), round: turn.round, text }];
}

/** The same that a kept turn gives: its place among the items that are shown. */
function textKey(turn: TurnView): string {
  return `t${turn.items.length}`;
}

function withoutRound(turn: TurnView): ItemView[] {
  return turn.items.filter(
    (item) => !((item.kind === "text" || item.kind === "thinking") && item.round === turn.round),
  );
}

function added(before: TokenUsage | null, more: TokenUsage): TokenUsage {
  if (!before) return more;
  return {
    input: before.input + more.input,
    output: before.output + more.output,
    cached: before.cached + more.cached,
    requests: before.requests + more.requests,
    written: (before.written ?? 0) + (more.written ?? 0),
  };
}

function addedCost(before: number | null, more: number | null): number | null {
  return before === null || more === null ? null : Math.round((before + more) * 1e6) / 1e6;
}

/** Who missed words of the round has them now. */
function wholeRound(turn: TurnView, event: RoundEvent): ItemView[] {
  const said = turn.items.filter((item) => item.kind === "text" && item.round === turn.round);
  const known = said.map((item) => (item.kind === "text" ? item.text : "")).join("");
  if (!event.text || known === event.text) return turn.items.filter((item) => !isBlank(item, turn.round));
  const rest = turn.items.filter((item) => !said.includes(item) && !isBlank(item, turn.round));
  return [...rest, { kind: "text", key: said[0]?.key ?? textKey(turn), round: turn.round, text: event.text }];
}

function isBlank(item: ItemView, round: number): boolean {
  return (item.kind === "text" || item.kind === "thinking") && item.round === round && !item.text.trim();
}

/** Begins the id of each call that the user makes. */
const BY_HAND = "hand-";

interface Began {
  id: string;
  tool: string;
  server: string | null;
  name: string;
  arguments: Record<string, unknown>;
}

function newCall(event: Began, now: number): CallView {
  return {
    kind: "call",
    key: event.id,
    id: event.id,
    tool: event.tool,
    server: event.server,
    name: event.name,
    arguments: event.arguments,
    outcome: "running",
    ms: 0,
    began: now,
    text: "",
    chars: 0,
    whole: null,
    rule: "",
    pictures: 0,
    byHand: event.id.startsWith(BY_HAND),
    progress: null,
    asking: null,
    answered: null,
  };
}

/** A call that waits and then runs keeps its place, and what was said of it. */
function put(turn: TurnView, call: CallView, state: Pick<CallView, "outcome" | "began">): ItemView[] {
  const known = turn.items.some((item) => item.kind === "call" && item.id === call.id);
  return known
    ? change(turn, call.id, (item) => ({ ...item, ...state })).items
    : [...turn.items, { ...call, ...state }];
}

function change(turn: TurnView, id: string, how: (call: CallView) => CallView): TurnView {
  return { ...turn, items: turn.items.map((item) => (item.kind === "call" && item.id === id ? how(item) : item)) };
}

function ended(call: CallView, event: ResultEvent): CallView {
  return {
    ...call,
    outcome: event.outcome,
    ms: event.ms,
    text: event.text,
    chars: characters(event.text),
    rule: event.rule,
    pictures: event.images,
    asking: null,
    progress: event.outcome === "cancelled" ? call.progress : null,
  };
}

function asked(turn: TurnView, asking: Asking): TurnView {
  if (asking.call !== null) return change(turn, asking.call, (call) => ({ ...call, asking }));
  return { ...turn, items: [...turn.items, { kind: "question", key: `q${asking.id}`, asking }] };
}

function answered(turn: TurnView, id: string, said: CallView["answered"]): TurnView {
  const items = turn.items
    .filter((item) => !(item.kind === "question" && item.asking.id === id))
    .map((item) =>
      item.kind === "call" && item.asking?.id === id
        ? { ...item, asking: null, answered: item.asking.about === "call" ? said : item.answered }
        : item,
    );
  return { ...turn, items };
}

function over(turn: TurnView, event: EndedEvent, now: number): TurnView {
  const { ending, error } = event;
  const items = turn.running ? closed(turn, now) : turn.items;
  const { items: first, ...before } = turn.before;
  if (items.slice(first).some((item) => item.kind === "call" && item.byHand)) {
    // A call by hand leaves the rest of its turn as it was.
    return { ...turn, ...before, running: false, ending: before.ending ?? "answered", items };
  }
  const usage = added(before.usage, event.usage);
  const cost = before.usage === null ? event.cost : addedCost(before.cost, event.cost);
  return { ...turn, running: false, ending, usage, cost, error, items: [...items, ...endNotes(turn, event)] };
}

function closed(turn: TurnView, now: number): ItemView[] {
  return turn.items
    .filter((item) => item.kind !== "question")
    .map((item): ItemView =>
      item.kind === "call" && (item.outcome === "running" || item.outcome === "waiting")
        ? { ...item, outcome: "cancelled", asking: null, ms: item.began ? now - item.began : 0 }
        : item,
    );
}

function endNotes(turn: TurnView, event: EndedEvent): ItemView[] {
  if (!turn.running) return [];
  if (event.ending === "stopped") return [note(turn, "stopped", "")];
  return event.ending === "failed" ? [note(turn, "failed", event.error?.message ?? "")] : [];
}

function note(
  turn: TurnView,
  kind: "stopped" | "failed" | "shortened" | "again" | "notice",
  text: string,
  time: string | null = null,
): ItemView {
  return { kind: "note", key: `n${turn.items.length}`, note: kind, text, time };
}

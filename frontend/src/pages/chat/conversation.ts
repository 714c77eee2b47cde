/** One chat as this page knows it: read once, then kept current by live events without a gap or a duplicate; when it
 * is read again. */

import { useEffect, useMemo, useSyncExternalStore } from "react";

import { run } from "../../api/client";
import { live, type LiveEvent } from "../../api/live";
import type { ChatNews, ChatView } from "../../api/types";
import { applyEvent, applyEvents } from "./turnReducer";
import { keptTurn, newTurn, remembering, type ChatEvent, type TurnView } from "./view";

export interface Look {
  view: ChatView | null;
  turns: readonly TurnView[];
  error: unknown;
}

const NOTHING: Look = { view: null, turns: [], error: null };

export class Conversation {
  private look: Look = NOTHING;
  private watchers = new Set<() => void>();
  private at: { turn: string; n: number } | null = null;
  private held: ChatNews[] | null = null;
  private stopListening: (() => void) | null = null;
  private reads = 0;

  constructor(readonly chat: string) {}

  start(): void {
    this.stopListening ??= live.listen((event) => this.handle(event));
    void this.read();
  }

  end(): void {
    this.stopListening?.();
    this.stopListening = null;
    this.reads += 1;
  }

  watch = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    return () => void this.watchers.delete(watcher);
  };

  current = (): Look => this.look;

  /** Read all of it again; what is told meanwhile waits. */
  async read(): Promise<void> {
    const mine = ++this.reads;
    this.held ??= [];
    try {
      const view = await run("chat_view", { chat: this.chat, limit: 10_000 });
      if (mine === this.reads) this.take(view);
    } catch (error) {
      if (mine === this.reads) {
        this.held = null;
        this.show({ ...this.look, error });
      }
    }
  }

  private take(view: ChatView): void {
    const turns = view.turns.map((turn, index) => remembering(keptTurn(turn), this.look.turns[index]));
    if (view.running) this.at = { turn: view.running.turn, n: view.running.n };
    if (view.running?.running) {
      const [first] = view.running.events;
      const kept = first ? withoutReplaced(turns, first) : turns;
      const base = startsAlone(first) ? newTurn() : (kept.pop() ?? newTurn());
      turns.splice(0, turns.length, ...kept, applyEvents(view.running.events, base));
    }
    const waiting = this.held ?? [];
    this.held = null;
    this.show({ view, turns, error: null });
    for (const event of waiting) this.add(event);
  }

  private handle(event: LiveEvent): void {
    if (event.kind === "reset" || event.kind === "reconnected") {
      void this.read();
      return;
    }
    if (event.kind !== "chat" || event.chat !== this.chat) return;
    if (this.held) this.held.push(event);
    else this.add(event);
  }

  private add(next: ChatNews): void {
    const known = this.at?.turn === next.turn ? this.at.n : null;
    if (known !== null && next.n <= known) return;
    if (next.n !== (known ?? 0) + 1) {
      // Something was missed, or it is a turn whose end was read already.
      if (known !== null || next.n > 1) this.held ??= [];
      void this.read();
      return;
    }
    this.at = { turn: next.turn, n: next.n };
    const turns = withoutReplaced(this.look.turns, next.event);
    if (known === null && startsAlone(next.event)) turns.push(newTurn());
    const last = turns.pop() ?? newTurn();
    turns.push(applyEvent(last, next.event));
    this.show({ ...this.look, turns });
    if (next.event.event === "ended" || hasPictures(next.event)) void this.read();
  }

  private show(look: Look): void {
    this.look = look;
    for (const watcher of [...this.watchers]) watcher();
  }
}

/** Pictures are not told live. */
function hasPictures(event: ChatEvent): boolean {
  return event.event === "question" && event.pictures > event.images.length;
}

/** A question that is asked again takes the place of the earlier one and of all that followed. */
function withoutReplaced(turns: readonly TurnView[], event: ChatEvent): TurnView[] {
  const replaced = event.event === "question" ? event.replaces : undefined;
  if (replaced === undefined) return [...turns];
  return turns.filter((turn) => turn.position !== null && turn.position < replaced);
}

/** A call that the user runs again belongs to the turn before it. */
function startsAlone(first: ChatEvent | undefined): boolean {
  return first?.event !== "question" || first.text !== null;
}

export function useConversation(chat: string | null): { look: Look; conversation: Conversation | null } {
  const conversation = useMemo(() => (chat === null ? null : new Conversation(chat)), [chat]);
  useEffect(() => {
    conversation?.start();
    return () => conversation?.end();
  }, [conversation]);
  const look = useSyncExternalStore(conversation?.watch ?? idle, conversation?.current ?? nothing);
  return { look, conversation };
}

const idle = () => () => undefined;
const nothing = () => NOTHING;

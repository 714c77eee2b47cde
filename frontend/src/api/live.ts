/** The connection to the host and its stream of live events: it reconnects by itself (pauses between attempts, time of
silence after which it counts as lost), and reports when events may have been missed.

A browser opens few connections to one host, so only one tab connects and forwards the events to the others. */

import { EVENT_ID, missedEvents, request } from "./client";
import { ApiError } from "./errors";
import { pageKey } from "./key";
import { sentEvents } from "./sse";
import type { News } from "./types";

/** An event of the host, or `missed` when there were events between an answer and the first opening of the stream, or
 *  `reconnected` after it was lost. */
export type LiveEvent = News | { kind: "missed" | "reconnected" };

export interface Connection {
  state: "connecting" | "connected" | "gone" | "signed-out";
  /** When it was lost, in milliseconds since the epoch. */
  since: number | null;
  /** When the next attempt starts. */
  retryAt: number | null;
}

type TabMessage =
  | { type: "event"; id: string; event: LiveEvent }
  | { type: "connection"; connection: Connection; lastId: string }
  | { type: "new-tab" }
  | { type: "retry" };

const CHANNEL = "toolcrib.live";
const LONGEST_PAUSE = 15_000;
const SILENCE = 30_000; // The host sends a comment every ten seconds.

class LiveStream {
  private connection: Connection = { state: "connecting", since: null, retryAt: null };
  private readonly tabs = new BroadcastChannel(CHANNEL);
  private readonly listeners = new Set<(event: LiveEvent) => void>();
  private readonly watchers = new Set<() => void>();
  private lastId = "";
  private leads = false;
  private failures = 0;
  private wake: () => void = () => undefined;

  start(): void {
    this.tabs.onmessage = (message: MessageEvent<TabMessage>) => this.receiveFromTab(message.data);
    this.send({ type: "new-tab" });
    void navigator.locks.request(CHANNEL, () => this.lead());
  }

  listen(listener: (event: LiveEvent) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Call back whenever `current` changes. */
  watch = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    return () => void this.watchers.delete(watcher);
  };

  current = (): Connection => this.connection;

  retryNow(): void {
    if (this.leads) this.wake();
    else this.send({ type: "retry" });
  }

  private receiveFromTab(message: TabMessage): void {
    switch (message.type) {
      case "event":
        this.lastId = message.id || this.lastId;
        return this.dispatch(message.event);
      case "connection":
        this.lastId = message.lastId || this.lastId; // The next leader resumes from here.
        return this.setConnection(message.connection);
      case "retry":
        if (this.leads) this.wake();
        return;
      case "new-tab":
        if (this.leads) this.send({ type: "connection", connection: this.connection, lastId: this.lastId });
    }
  }

  /** Connect for all tabs until this one closes. */
  private async lead(): Promise<void> {
    this.leads = true;
    while (pageKey()) {
      try {
        await this.receive();
      } catch (error) {
        if (error instanceof ApiError && error.status === 401) break;
      }
      await this.pause();
    }
    this.leads = false;
    this.shareConnection({ state: "signed-out", since: Date.now(), retryAt: null });
  }

  private async receive(): Promise<void> {
    const silence = new AbortController();
    let timer = setTimeout(() => silence.abort(), SILENCE);
    const restartTimer = () => {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE);
    };
    try {
      const headers: Record<string, string> = { accept: "text/event-stream" };
      if (this.lastId) headers["last-event-id"] = this.lastId;
      const response = await request("/api/live", { method: "GET", headers, signal: silence.signal });
      this.connected(response.headers.get(EVENT_ID) ?? "");
      if (response.body) await this.read(response.body.pipeThrough(observed(restartTimer)));
    } finally {
      clearTimeout(timer);
    }
  }

  private connected(beginning: string): void {
    const before = this.connection.state;
    this.failures = 0;
    this.shareConnection({ state: "connected", since: null, retryAt: null });
    if (before === "gone") this.share("", { kind: "reconnected" });
    else if (before === "connecting" && missedEvents(beginning)) this.share("", { kind: "missed" });
  }

  private async read(body: ReadableStream<Uint8Array>): Promise<void> {
    for await (const sent of sentEvents(body)) {
      if (sent.id) this.lastId = sent.id;
      const event: News = JSON.parse(sent.data);
      this.share(sent.id, event);
    }
  }

  private async pause(): Promise<void> {
    this.failures += 1;
    const wait = this.failures === 1 ? 250 : Math.min(LONGEST_PAUSE, 500 * 2 ** (this.failures - 1));
    const since = this.connection.since ?? Date.now();
    this.shareConnection({ state: "gone", since, retryAt: Date.now() + wait });
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, wait);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  private share(id: string, event: LiveEvent): void {
    this.send({ type: "event", id, event });
    this.dispatch(event);
  }

  private shareConnection(connection: Connection): void {
    this.send({ type: "connection", connection, lastId: this.lastId });
    this.setConnection(connection);
  }

  private send(message: TabMessage): void {
    this.tabs.postMessage(message);
  }

  private dispatch(event: LiveEvent): void {
    for (const listener of [...this.listeners]) listener(event);
  }

  private setConnection(connection: Connection): void {
    this.connection = connection;
    for (const watcher of [...this.watchers]) watcher();
  }
}

/** Forwards every chunk unchanged and calls back for each. */
function observed(onChunk: () => void): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({
    transform(chunk, controller) {
      onChunk();
      controller.enqueue(chunk);
    },
  });
}

export const live = new LiveStream();

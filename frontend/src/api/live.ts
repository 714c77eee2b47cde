/** The one stream of news from the host: it comes back by itself, and says when something was missed.

A browser opens few connections to one host, so of all tabs only one listens and tells the others. */

import { request } from "./client";
import { ApiError } from "./errors";
import { pageKey } from "./key";
import { sentEvents } from "./sse";

export interface LiveEvent {
  kind: string;
  [field: string]: unknown;
}

export interface Connection {
  state: "connecting" | "connected" | "gone" | "signed-out";
  /** When it was lost, as milliseconds of the clock. */
  since: number | null;
  /** When the next try comes. */
  retryAt: number | null;
}

type Told =
  | { told: "event"; id: string; event: LiveEvent }
  | { told: "connection"; connection: Connection; last: string }
  | { told: "newcomer" }
  | { told: "try" };

const NAME = "toolcrib.live";
const LONGEST_PAUSE = 15_000;
const SILENCE = 30_000; // The host sends a sign of life every ten seconds.

class Live {
  private connection: Connection = { state: "connecting", since: null, retryAt: null };
  private readonly tabs = new BroadcastChannel(NAME);
  private readonly listeners = new Set<(event: LiveEvent) => void>();
  private readonly watchers = new Set<() => void>();
  private last = "";
  private leads = false;
  private failures = 0;
  private wake: () => void = () => undefined;

  start(): void {
    this.tabs.onmessage = (message: MessageEvent<Told>) => this.hearTab(message.data);
    this.tabs.postMessage({ told: "newcomer" } satisfies Told);
    void navigator.locks.request(NAME, () => this.lead());
  }

  listen(listener: (event: LiveEvent) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  watch = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    return () => void this.watchers.delete(watcher);
  };

  look = (): Connection => this.connection;

  /** Do not wait for the next try. */
  tryNow(): void {
    if (this.leads) this.wake();
    else this.tabs.postMessage({ told: "try" } satisfies Told);
  }

  private hearTab(told: Told): void {
    if (told.told === "event") {
      this.last = told.id || this.last;
      this.hand(told.event);
    } else if (told.told === "connection") {
      this.last = told.last || this.last; // Whoever leads next goes on from here.
      this.move(told.connection);
    }
    else if (!this.leads) return;
    else if (told.told === "try") this.wake();
    else this.tell({ told: "connection", connection: this.connection, last: this.last });
  }

  /** From now on until this tab closes, it is the one that listens. */
  private async lead(): Promise<void> {
    this.leads = true;
    while (pageKey()) {
      try {
        await this.hear();
      } catch (error) {
        if (error instanceof ApiError && error.status === 401) break;
      }
      await this.pause();
    }
    this.leads = false;
    this.become({ state: "signed-out", since: Date.now(), retryAt: null });
  }

  private async hear(): Promise<void> {
    const silence = new AbortController();
    let timer = setTimeout(() => silence.abort(), SILENCE);
    const heard = () => {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE);
    };
    try {
      const headers: Record<string, string> = { accept: "text/event-stream" };
      if (this.last) headers["last-event-id"] = this.last;
      const answer = await request("/api/live", { method: "GET", headers, signal: silence.signal });
      this.welcome();
      if (answer.body) await this.read(answer.body.pipeThrough(listening(heard)));
    } finally {
      clearTimeout(timer);
    }
  }

  private welcome(): void {
    const again = this.connection.state === "gone";
    this.failures = 0;
    this.become({ state: "connected", since: null, retryAt: null });
    if (again) this.pass("", { kind: "reconnected" });
  }

  private async read(body: ReadableStream<Uint8Array>): Promise<void> {
    for await (const sent of sentEvents(body)) {
      if (sent.id) this.last = sent.id;
      this.pass(sent.id, JSON.parse(sent.data) as LiveEvent);
    }
  }

  private async pause(): Promise<void> {
    this.failures += 1;
    const wait = this.failures === 1 ? 250 : Math.min(LONGEST_PAUSE, 500 * 2 ** (this.failures - 1));
    this.become({ state: "gone", since: this.connection.since ?? Date.now(), retryAt: Date.now() + wait });
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, wait);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  private pass(id: string, event: LiveEvent): void {
    this.tell({ told: "event", id, event });
    this.hand(event);
  }

  private become(connection: Connection): void {
    this.tell({ told: "connection", connection, last: this.last });
    this.move(connection);
  }

  private tell(told: Told): void {
    this.tabs.postMessage(told);
  }

  private hand(event: LiveEvent): void {
    for (const listener of [...this.listeners]) listener(event);
  }

  private move(connection: Connection): void {
    this.connection = connection;
    for (const watcher of [...this.watchers]) watcher();
  }
}

/** Passes everything on, and says that something came. */
function listening(heard: () => void): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({
    transform(chunk, controller) {
      heard();
      controller.enqueue(chunk);
    },
  });
}

export const live = new Live();

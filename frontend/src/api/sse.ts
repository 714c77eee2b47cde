/** Reads server-sent events from the body of an answer. */

export interface SentEvent {
  id: string;
  event: string;
  data: string;
}

/** So many events of one piece are handed out before the page has a turn. */
const BURST = 20;

export async function* sentEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<SentEvent> {
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const from = Math.max(0, rest.length - 1); // The end of a block may be cut in two.
      rest += value;
      if (rest.indexOf("\n\n", from) < 0) continue;
      const blocks = rest.split("\n\n");
      rest = blocks.pop() ?? "";
      for (const [index, block] of blocks.entries()) {
        if (index % BURST === BURST - 1) await pageHadItsTurn();
        const event = read(block);
        if (event) yield event;
      }
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

/**
 * Whatever the page has put off is done. Events that follow each other without a pause let React believe, after
 * fifty, that the page updates itself forever. Not a timer: those are slow in a tab that is not in view.
 */
function pageHadItsTurn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

/** One block; null for a comment, which only keeps the connection alive. */
export function read(block: string): SentEvent | null {
  const event: SentEvent = { id: "", event: "message", data: "" };
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    if (colon <= 0) continue;
    const field = line.slice(0, colon);
    const value = line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") data.push(value);
    else if (field === "id") event.id = value;
    else if (field === "event") event.event = value;
  }
  if (data.length === 0 && event.event === "message") return null;
  event.data = data.join("\n");
  return event;
}

import { expect, test } from "vitest";

import { sentEvents, type SentEvent } from "./sse";

async function heard(...pieces: string[]): Promise<SentEvent[]> {
  const coder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(coder.encode(piece));
      controller.close();
    },
  });
  const found: SentEvent[] = [];
  for await (const event of sentEvents(body)) found.push(event);
  return found;
}

test("an event is heard whole however it was cut", async () => {
  const text = 'id: 7\nevent: result\ndata: {"a":\ndata: 1}\n\n';
  const whole = await heard(text);
  expect(whole).toEqual([{ id: "7", event: "result", data: '{"a":\n1}' }]);
  expect(await heard(...text)).toEqual(whole);
});

test("comments are not events, and an unfinished event is not reported", async () => {
  expect(await heard(":\n\n", "data: 1\n\n", ": still here\n\n", "data: 2")).toEqual([
    { id: "", event: "message", data: "1" },
  ]);
});

test("a letter of several bytes may be cut in two", async () => {
  const [first, ...rest] = new TextEncoder()
    .encode("data: ä\n\n")
    .reduce<number[][]>((all, byte) => [...all, [byte]], []);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const one of [first ?? [], ...rest]) controller.enqueue(new Uint8Array(one));
      controller.close();
    },
  });
  for await (const event of sentEvents(body)) expect(event.data).toBe("ä");
});

test("in a long burst the page has its turns", async () => {
  const body = new Blob(["data: 1\n\n".repeat(100)]).stream();
  let events = 0;
  let turns = 0;
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    turns += 1;
    port2.postMessage(null);
  };
  port2.postMessage(null);
  let longest = 0;
  let since = { turns: 0, events: 0 };
  for await (const _ of sentEvents(body)) {
    events += 1;
    if (turns > since.turns) since = { turns, events };
    longest = Math.max(longest, events - since.events);
  }
  port1.close();
  expect(events).toBe(100);
  expect(longest).toBeLessThan(50);
});

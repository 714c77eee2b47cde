import { expect, test } from "vitest";

import type { RecordedMessage } from "../../api/types";
import { filtered, indented, joined, jsonLines } from "./trafficRows";

function row(number: number, more: Partial<RecordedMessage> = {}): RecordedMessage {
  const usual = { time: "2026-11-15T09:41:20.123Z", to_server: true, kind: "request", method: "tools/call" } as const;
  const text = `{"id":${number}}`;
  return { ...usual, number, id: String(number), milliseconds: null, size: 8, text, cut: false, ...more };
}

const NEWS = { server: "srv", recording: true, skipped: 0 };

test("messages that the host dropped go, and new ones are added", () => {
  const rows = [row(1), row(2), row(3)];
  expect(joined(rows, { ...NEWS, oldest: 1, messages: [] })).toBe(rows);
  expect(joined(rows, { ...NEWS, oldest: 3, messages: [row(4)] }).map((one) => one.number)).toEqual([3, 4]);
  expect(joined(rows, { ...NEWS, oldest: 4, messages: [] })).toEqual([]);
});

test("the filter looks at the method and the kind", () => {
  const rows = [row(1), row(2, { method: "ping" }), row(3, { kind: "error" })];
  expect(filtered(rows, " Tools/ ").map((one) => one.number)).toEqual([1, 3]);
  expect(filtered(rows, "error").map((one) => one.number)).toEqual([3]);
  expect(filtered(rows, "")).toBe(rows);
});

test("each line of a download is JSON with the message as it was recorded", () => {
  const text = '{"id":12345678901234567890,"method":"a\\nb"}';
  const lines = jsonLines([row(1, { to_server: false, text }), row(2)]).split("\n");
  expect(lines).toHaveLength(3);
  expect(lines[0]).toContain(`"message":${text}}`);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ direction: "from-server", message: { method: "a\nb" } });
  expect(lines[2]).toBe("");
});

test("a message is indented and not changed", () => {
  const odd = { a: [1, { b: "x,[\\" }, [], {}], "c:": null, d: [[true]], e: -1.5e-7, f: '"', g: "" };
  for (const value of [odd, [], {}, "text", 7]) {
    expect(indented(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2));
  }
  expect(indented('{"id":12345678901234567890}')).toBe('{\n  "id": 12345678901234567890\n}');
});

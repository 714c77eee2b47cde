import { expect, test } from "vitest";

import { pageHint } from "./hints";

test("a page with the log does not send its reader to a command for it", () => {
  expect(pageHint("See its log with: toolcrib logs fake")).toBe("");
  expect(pageHint("See `toolcrib logs fake`.")).toBe("");
  expect(pageHint("See `toolcrib logs fake`; raise timeouts.start if it is slow.")).toBe(
    "Raise timeouts.start if it is slow.",
  );
  expect(pageHint("Check what it sends with `toolcrib logs fake`, and report it.")).toBe(
    "Check what it sends in its log, and report it.",
  );
  expect(pageHint("Start the server.")).toBe("Start the server.");
});

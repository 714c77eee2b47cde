import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { addIncluded, missingAccount } from "./addIncluded";
import type { Listed } from "./types";

let sent: { operation: string; body: object }[] = [];
let accounts: object[] = [];
let launch: object | null = null;

const EVENTS = { headers: { "content-type": "text/event-stream" } };
const SETUP = { name: "mail", kind: "add", state: "running", steps: [], began: "2026-01-01T00:00:00Z" };

function answerTo(operation: string): Response {
  if (operation === "propose") {
    const proposed = { name: "mail", launch, plan: "", ms: 1, missing: [], needed: [] };
    return new Response(`event: result\ndata: ${JSON.stringify(proposed)}\n\n`, EVENTS);
  }
  return Response.json(operation === "account_list" ? accounts : operation === "setups" ? [SETUP] : SETUP);
}

/** The host at the level of the network. */
beforeEach(() => {
  sent = [];
  launch = { name: "mail", mark: "m1", type: "inprocess" };
  vi.stubGlobal("localStorage", { getItem: () => "key" });
  vi.stubGlobal("fetch", (path: string, init: RequestInit) => {
    const operation = path.replace("/api/", "");
    sent.push({ operation, body: JSON.parse(String(init.body)) as object });
    return Promise.resolve(answerTo(operation));
  });
});

afterEach(() => void vi.unstubAllGlobals());

const MAIL = { name: "mail", bundled: true, needs_account: ["google", "imap"] } as Listed;

test("an included server is added and trusted exactly as the host proposed it", async () => {
  accounts = [{ name: "work", provider: "imap" }];
  await addIncluded(MAIL);
  const added = sent.find((one) => one.operation === "setup_add");
  expect(added?.body).toMatchObject({ text: "mail", name: "mail", mark: "m1", type: "inprocess" });
  expect(await missingAccount(MAIL)).toEqual([]);
});

test("without a fitting account the providers of one are named", async () => {
  accounts = [{ name: "bot", provider: "discord" }];
  expect(await missingAccount(MAIL)).toEqual(["google", "imap"]);
  expect(sent.map((one) => one.operation)).toEqual(["account_list"]);
});

test("a server that needs no account asks for none", async () => {
  expect(await missingAccount({ ...MAIL, needs_account: [] })).toEqual([]);
  expect(sent).toEqual([]);
});

test("a server is added as it was chosen to be set up", async () => {
  const entry = { type: "inprocess", module: "toolcrib.bundled.desktop", args: ["--headless", "1280x800"] };
  await addIncluded(MAIL, { title: "A display of its own", about: "", entry, problem: "", hint: "" });
  expect(sent.find((one) => one.operation === "setup_add")?.body).toMatchObject({ entry, mark: "m1" });
});

test("a server that lacks a value is not added yet", async () => {
  launch = null;
  const { proposed } = await addIncluded({ ...MAIL, needs_account: [] });
  expect(proposed.launch).toBeNull();
  expect(sent.map((one) => one.operation)).toEqual(["propose"]);
});

import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { cancelSignIn, signInResult } from "./signIn";

interface Sent {
  path: string;
  body: unknown;
}

let sent: Sent[] = [];
let answers: object[] = [];

/** The host at the level of the network: each request gets the next answer. */
beforeEach(() => {
  sent = [];
  vi.stubGlobal("localStorage", { getItem: () => "key" });
  vi.stubGlobal("fetch", (path: string, init: RequestInit) => {
    init.signal?.throwIfAborted();
    sent.push({ path, body: JSON.parse(String(init.body)) });
    return Promise.resolve(Response.json(answers.shift() ?? {}));
  });
});

afterEach(() => void vi.unstubAllGlobals());

const WAITING = { state: "waiting", error: "", hint: "", account: null };

test("the result is asked for until the user has signed in", async () => {
  answers = [WAITING, WAITING, { ...WAITING, state: "done", account: { name: "work" } }];
  const result = await signInResult("s1", new AbortController().signal, 1);
  expect(result.account).toEqual({ name: "work" });
  expect(sent).toEqual(Array(3).fill({ path: "/api/account_sign_in_result", body: { sign_in: "s1", wait: 20 } }));
});

test("a refused sign-in fails with its reason and hint", async () => {
  answers = [{ ...WAITING, state: "failed", error: "Access was denied.", hint: "Allow access and try again." }];
  await expect(signInResult("s1", new AbortController().signal, 1)).rejects.toMatchObject({
    message: "Access was denied.",
    hint: "Allow access and try again.",
  });
});

test("an aborted wait asks no more", async () => {
  answers = [WAITING];
  const abort = new AbortController();
  const waiting = signInResult("s1", abort.signal, 60_000);
  await vi.waitFor(() => expect(sent).toHaveLength(1));
  abort.abort(new Error("closed"));
  await expect(waiting).rejects.toThrow("closed");
  expect(sent).toHaveLength(1);
});

test("cancelling tells the host which sign-in", async () => {
  cancelSignIn("s1");
  await vi.waitFor(() => expect(sent).toEqual([{ path: "/api/account_sign_in_cancel", body: { sign_in: "s1" } }]));
});

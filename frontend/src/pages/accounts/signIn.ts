/** Waits until the user has signed in on the provider's own page: how often the host is asked. The host has the time
 * limit. */

import { run } from "../../api/client";
import { ApiError } from "../../api/errors";
import type { Result } from "../../api/client";

const WAIT = 20; // Seconds that the host holds back an answer that would be "waiting".
const PAUSE = 500;

export type SignInResult = Result<"account_sign_in_result">;

/** The result once it is there; aborting the signal ends the wait, not the sign-in. The host has its own
 *  deadline for one that is never completed. */
export async function signInResult(id: string, signal: AbortSignal, pause = PAUSE): Promise<SignInResult> {
  for (;;) {
    const result = await run("account_sign_in_result", { sign_in: id, wait: WAIT }, signal);
    if (result.state === "failed") throw new ApiError(400, "sign_in", result.error, result.hint);
    if (result.state === "done") return result;
    signal.throwIfAborted();
    await rest(pause, signal);
  }
}

export function cancelSignIn(id: string): void {
  void run("account_sign_in_cancel", { sign_in: id }).catch(() => undefined);
}

function rest(pause: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, pause);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });
}

/** Words and shapes for the states of servers ("Slow", "Needs sign-in") and calls ("Timed out") on all pages. */

import type { Shape } from "./Status";

export interface Shown {
  shape: Shape;
  word: string;
}

const SERVERS: Record<string, Shown> = {
  ready: { shape: "ok", word: "Running" },
  starting: { shape: "work", word: "Starting" },
  installing: { shape: "work", word: "Installing" },
  stopping: { shape: "work", word: "Stopping" },
  degraded: { shape: "retry", word: "Slow" },
  failed: { shape: "fail", word: "Failed" },
  "needs-auth": { shape: "need", word: "Needs sign-in" },
  "needs-trust": { shape: "need", word: "Needs trust" },
  "needs-config": { shape: "need", word: "Needs a value" },
  disabled: { shape: "off", word: "Off" },
};

/** "needs an account", for what only the user can provide. */
export function needsText(noun: string): string {
  return `needs ${/^[aeiou]/.test(noun) ? "an" : "a"} ${noun}`;
}

/** A server's state; `held` are tools that wait for a review, `needs` what the user has to provide. */
export function serverState(state: string, held = 0, retryIn: number | null = null, needs = ""): Shown {
  if (needs) return { shape: "need", word: needsText(needs).replace("n", "N") };
  if (state === "ready" && held > 0) return { shape: "need", word: "Held for review" };
  if (state === "backoff") return { shape: "retry", word: retryIn === null ? "Retrying" : `Retrying in ${retryIn} s` };
  return SERVERS[state] ?? { shape: "wait", word: state };
}

const CALLS: Record<string, Shown> = {
  ok: { shape: "done", word: "Done" },
  done: { shape: "done", word: "Done" },
  error: { shape: "fail", word: "Failed" },
  failed: { shape: "fail", word: "Failed" },
  timeout: { shape: "fail", word: "Timed out" },
  denied: { shape: "deny", word: "Denied" },
  cancelled: { shape: "stop", word: "Stopped" },
  interrupted: { shape: "stop", word: "Interrupted" },
  stopped: { shape: "stop", word: "Stopped" },
  running: { shape: "work", word: "Running" },
  asking: { shape: "need", word: "Asking" },
  waiting: { shape: "wait", word: "Waiting" },
};

/** How a call went or goes; kinds of errors the page has no word for are failures. */
export function callState(outcome: string): Shown {
  return CALLS[outcome] ?? { shape: "fail", word: "Failed" };
}

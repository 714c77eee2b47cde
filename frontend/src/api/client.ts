/** Runs the host's operations over HTTP: `run` returns the result, `stream` also reports events on the way. Signs the
 * page out after 401. */

import { ApiError, apiError, unreachable } from "./errors";
import { forgetKey, pageKey } from "./key";
import { sentEvents } from "./sse";
import type { Operations } from "./types";

export type OperationName = keyof Operations & string;
export type Params<O extends OperationName> = Operations[O]["params"];
export type Result<O extends OperationName> = Operations[O]["result"];
export type OperationEvent<O extends OperationName> = Operations[O]["event"];

/** The answer's latest event, before it was made. */
export const EVENT_ID = "x-event-id";

let oldest = "";

/** Whether events came between an answer of the host and this one, with which the stream of events begins. */
export function missedEvents(beginning: string): boolean {
  const [run = "", number] = beginning.split("-");
  return oldest !== "" && (!oldest.startsWith(`${run}-`) || numberOf(oldest) < Number(number));
}

const numberOf = (eventId: string) => Number(eventId.split("-")[1]);

export async function request(path: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${pageKey() ?? ""}`);
  let answer: Response;
  try {
    answer = await fetch(path, { ...init, headers, credentials: "omit", cache: "no-store" });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw unreachable();
  }
  if (answer.ok) return answer;
  if (answer.status === 401) forgetKey();
  throw apiError(answer.status, await answer.json().catch(() => null));
}

export async function run<O extends OperationName>(
  operation: O,
  params: Params<O>,
  signal?: AbortSignal,
  /** `keepalive`: the host gets it even if the page is closed now. */
  options: { keepalive?: boolean } = {},
): Promise<Result<O>> {
  const init = post(params, "application/json", signal);
  // Browsers send at most 64 kB in this way.
  const keepalive = options.keepalive === true && String(init.body).length < 20_000;
  const answer = await request(`/api/${operation}`, { ...init, keepalive });
  const eventId = answer.headers.get(EVENT_ID) ?? "";
  if (oldest === "" || numberOf(eventId) < numberOf(oldest)) oldest = eventId;
  return (await answer.json()) as Result<O>;
}

/** The result of an operation that reports progress; aborting the signal ends the operation itself. */
export async function stream<O extends OperationName>(
  operation: O,
  params: Params<O>,
  onEvent: (event: OperationEvent<O>) => void,
  signal?: AbortSignal,
): Promise<Result<O>> {
  const answer = await request(`/api/${operation}`, post(params, "text/event-stream", signal));
  if (!answer.body) throw unreachable();
  for await (const sent of sentEvents(answer.body)) {
    const value: unknown = JSON.parse(sent.data);
    if (sent.event === "event") onEvent(value as OperationEvent<O>);
    else if (sent.event === "result") return value as Result<O>;
    else if (sent.event === "error") throw apiError(500, { error: value });
  }
  throw new ApiError(0, "unreachable", "The host closed the connection before it answered.");
}

function post(params: unknown, accept: string, signal?: AbortSignal): RequestInit {
  const init: RequestInit = {
    method: "POST",
    headers: { "content-type": "application/json", accept },
    body: JSON.stringify(params ?? {}),
  };
  if (signal) init.signal = signal;
  return init;
}

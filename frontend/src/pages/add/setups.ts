/** Adding, installing, updating and testing, which go on in the host: any page follows them, none has to stay open.
 * When a notice reports the end. */

import { run } from "../../api/client";
import { queries, useOperation } from "../../api/hooks";
import { live } from "../../api/live";
import { notify } from "../../app/notices";
import type { Launch, Proposed, Request, Setup } from "./types";
import { endedText, TEST } from "./text";

const KEY = ["setups", {}];
const NONE: readonly Setup[] = [];
const LATER = 500;
/** Setups that a dialog of this page shows. */
const watched = new Map<string, number>();

live.listen((event) => {
  if (event.kind !== "setup" && event.kind !== "setup_forgotten") return;
  if (all() === undefined)
    later(); // Not loaded yet, or the first response is on its way and older than this event.
  else if (event.kind === "setup") take(event.setup);
  else drop(event.name);
});

export function useSetups(): readonly Setup[] {
  return useOperation("setups", {}).data ?? NONE;
}

/** While a dialog shows one, its end is not told elsewhere. */
export function watch(name: string): () => void {
  watched.set(name, (watched.get(name) ?? 0) + 1);
  return () => void watched.set(name, (watched.get(name) ?? 1) - 1);
}

/** Add what was proposed, trust exactly that, test it. */
export async function addAndTest(request: Request, proposed: Proposed, launch: Launch): Promise<void> {
  const { name, plan, ms } = proposed;
  await begun(await run("setup_add", { ...request, name, mark: launch.mark, plan, found_ms: ms, type: launch.type }));
}

/** Trust a server that is configured already, install what it needs, test it. */
export async function agreeAndTest(launch: Launch): Promise<void> {
  await begun(await run("setup_trust", { name: launch.name, mark: launch.mark }));
}

/** Only test. */
export async function testServer(name: string): Promise<void> {
  await begun(await run("setup_test", { name }));
}

/** Put another version in place, as it was planned. */
export async function updateServer(name: string, to: string, agreed: string): Promise<void> {
  await begun(await run("setup_update", { name, to, agreed }));
}

/** End it; whatever was started for it ends too, and what was half installed goes. */
export async function stopSetup(name: string): Promise<void> {
  await begun(await run("setup_stop", { name }));
  notify(TEST.stopped);
}

/** Its outcome has been seen. */
export function forgetSetup(name: string): void {
  const known = all()?.find((setup) => setup.name === name);
  if (!known || known.state === "running") return;
  drop(name);
  void run("setup_forget", { name }).catch(() => undefined);
}

function all(): readonly Setup[] | undefined {
  return queries.getQueryData<readonly Setup[]>(KEY);
}

/** The answer to one's own question; the stream may have told more of the same by now. */
async function begun(setup: Setup): Promise<void> {
  const known = all();
  if (known === undefined) await queries.fetchQuery({ queryKey: KEY, queryFn: () => run("setups", {}) });
  else if (setup.state !== "running" || !known.some((one) => one.name === setup.name && one.began === setup.began))
    take(setup);
}

function later(): void {
  setTimeout(() => void queries.invalidateQueries({ queryKey: KEY }), LATER);
}

function take(setup: Setup): void {
  const before = all()?.find((one) => one.name === setup.name);
  void queries.cancelQueries({ queryKey: KEY }); // An answer that is on its way would be older.
  queries.setQueryData(KEY, [...(all() ?? []).filter((one) => one.name !== setup.name), setup]);
  if (setup.state === "running" || before?.state !== "running") return;
  void queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== "setups" });
  if (!watched.get(setup.name)) {
    const words = endedText(setup);
    if (words) notify(words);
  }
}

function drop(name: string): void {
  queries.setQueryData(
    KEY,
    (all() ?? []).filter((one) => one.name !== name),
  );
}

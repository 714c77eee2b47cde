/** What can be done with a server from the list: turn on and off, start, restart, sign out, all servers, remove, and
 * how long a removal can be undone. */

import { run } from "../../api/client";
import { sentence } from "../../api/errors";
import { queries } from "../../api/hooks";
import { notify } from "../../app/notices";

/** Longer than the notice counts down, because it pauses while it is hovered. */
const UNDO = 120;

async function act(work: () => Promise<string>): Promise<void> {
  try {
    const said = await work();
    if (said) notify(said);
  } catch (error) {
    notify(sentence(error));
  }
  await queries.invalidateQueries({ queryKey: ["overview"] });
}

export function turn(name: string, on: boolean): Promise<void> {
  return act(async () => {
    await run(on ? "enable" : "disable", { name });
    return on ? `Turned “${name}” on.` : `Turned “${name}” off.`;
  });
}

/** Start a stopped server, or retry one now; its row shows the outcome. */
export function start(name: string): Promise<void> {
  return act(async () => {
    await run("start", { name }).catch(() => undefined);
    return "";
  });
}

export function restart(name: string): Promise<void> {
  return act(async () => {
    await run("restart", { name }).catch(() => undefined);
    return `Restarted “${name}”.`;
  });
}

export function signOut(name: string): Promise<void> {
  return act(async () => {
    const answer = await run("logout", { name });
    return answer.was_signed_in ? `Signed out of “${name}”.` : `You were not signed in to “${name}”.`;
  });
}

export function remove(name: string): Promise<void> {
  return act(async () => {
    await run("remove", { name, undo: UNDO });
    notify(`Removed “${name}”.`, () => void restore(name));
    return "";
  });
}

function restore(name: string): Promise<void> {
  return act(async () => {
    await run("restore", { name });
    return `Restored “${name}”.`;
  });
}

export function switchAll(on: boolean): Promise<void> {
  return act(async () => {
    await run(on ? "on" : "off", {});
    return on ? "All servers are on again." : "All servers are off.";
  });
}

/** Adding a server that comes with Toolcrib: its program is known, so that no plan has to be reviewed. */

import { run, stream } from "../../api/client";
import { addAndTest } from "./setups";
import type { Listed, Proposed, Request } from "./types";

export interface Begun {
  request: Request;
  proposed: Proposed;
  /** The providers of which one account is still needed. */
  needsAccount: readonly string[];
}

/** Add it and test it in the background; not while it lacks a value, which `proposed` then names. */
export async function addIncluded(listed: Listed): Promise<Begun> {
  const request: Request = { text: listed.name, name: listed.name };
  const proposed = await stream("propose", request, () => undefined);
  if (proposed.launch) await addAndTest(request, proposed, proposed.launch);
  return { request, proposed, needsAccount: await missingAccount(listed.needs_account) };
}

async function missingAccount(providers: readonly string[]): Promise<readonly string[]> {
  if (providers.length === 0) return [];
  const accounts = await run("account_list", {});
  return accounts.some((account) => providers.includes(account.provider)) ? [] : providers;
}

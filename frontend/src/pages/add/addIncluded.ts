/** Adding a server that comes with Toolcrib: whether an account is asked for first. Its program is known, so that no
 * plan has to be reviewed. */

import { run, stream } from "../../api/client";
import { addAndTest } from "./setups";
import type { IncludedChoice, Listed, Proposed, Request } from "./types";

export interface Begun {
  request: Request;
  proposed: Proposed;
}

/** Add it, set up as chosen, and test it in the background; not while it lacks a value, which `proposed` names. */
export async function addIncluded(listed: Listed, choice?: IncludedChoice): Promise<Begun> {
  const what = choice ? { entry: choice.entry } : { text: listed.name };
  const request: Request = { ...what, name: listed.name };
  const proposed = await stream("propose", request, () => undefined);
  if (proposed.launch) await addAndTest(request, proposed, proposed.launch);
  return { request, proposed };
}

/** The providers of which it needs one account, unless there is one. */
export async function missingAccount({ needs_account: providers }: Listed): Promise<readonly string[]> {
  if (providers.length === 0) return [];
  const accounts = await run("account_list", {});
  return accounts.some((account) => providers.includes(account.provider)) ? [] : providers;
}

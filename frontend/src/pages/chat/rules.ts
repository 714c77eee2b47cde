/** The person's rules, to say by number which of them decided a call. */

import { refreshOn, useOperation } from "../../api/hooks";
import type { Rules } from "./callWords";

refreshOn("call", "policy_list");

const NONE: Rules = [];

/** Fetched only where a rule of the person has decided something. */
export function useRules(rule: string): Rules {
  const { data } = useOperation("policy_list", {}, { enabled: /^[0-9a-f]{12}$/.test(rule) });
  return data?.rules ?? NONE;
}

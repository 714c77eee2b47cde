/** The user's approval rules, fetched to name by number the one that decided a call. */

import { refreshOn, useOperation } from "../../api/hooks";
import type { Rules } from "./callText";

refreshOn("call", "policy_list");

const NONE: Rules = [];

/** Fetched only if one of the user's rules decided the call. */
export function useRules(rule: string): Rules {
  const { data } = useOperation("policy_list", {}, { enabled: /^[0-9a-f]{12}$/.test(rule) });
  return data?.rules ?? NONE;
}

/** Names of the approval modes in running text, such as "ask unless a rule allows it". */

import type { Mode } from "../api/types";

export const MODE_NAMES: Record<Mode, string> = {
  always: "always ask",
  on_miss: "ask unless a rule allows it",
  on_rule: "ask only if a rule says so",
  plan: "plan (read-only)",
  session: "autonomous session",
  off: "never ask",
};

/** Names of the approval modes in running text, such as "ask before changes". */

import type { Mode } from "../api/types";

export const MODE_NAMES: Record<Mode, string> = {
  always: "always ask",
  on_miss: "ask before changes",
  on_rule: "ask only if a rule says so",
  plan: "plan (read-only)",
  session: "autonomous session",
  off: "never ask",
};

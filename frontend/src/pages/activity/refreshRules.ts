/** What is fetched again after an approval rule has changed. */

import { queries } from "../../api/hooks";

export function refreshRules(): void {
  void queries.invalidateQueries({
    predicate: ({ queryKey }) =>
      ["policy_list", "policy_explain", "call_path", "rank", "find_tools", "tool_show"].includes(String(queryKey[0])),
  });
}

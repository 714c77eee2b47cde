/** Fetches again everything that a new, changed or removed model changes. */

import type { OperationName } from "../../api/client";
import { queries } from "../../api/hooks";

const CHANGED = new Set<OperationName>([
  "models",
  "model_list",
  "local_models",
  "secret_list",
  "settings_show",
  "host_info",
]);

export function refreshModels(): Promise<void> {
  return queries.invalidateQueries({ predicate: ({ queryKey }) => CHANGED.has(queryKey[0] as OperationName) });
}

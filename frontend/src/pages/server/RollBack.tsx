/** The button "Roll back to" an earlier version of a server, and which version that is. */

import { run } from "../../api/client";
import { sentence } from "../../api/errors";
import { queries, useOperation } from "../../api/hooks";
import type { KeptVersion } from "../../api/types";
import { notify } from "../../app/notices";

/** Back to a version that is kept, the one before the active unless another is named. */
export async function rollBack(name: string, version: string): Promise<void> {
  try {
    const done = await run("rollback", { name, to: version });
    notify(`Rolled “${name}” back to ${done.active.version}.`);
  } catch (error) {
    notify(sentence(error));
  }
  void queries.invalidateQueries();
}

/** The version before the active one; `kept` has the newest first. */
export function earlierOf(kept: readonly KeptVersion[]): KeptVersion | null {
  const active = kept.findIndex((one) => one.active);
  return active < 0 ? null : (kept[active + 1] ?? null);
}

/** The button for it, where there is a version to go back to. */
export function RollBack({ name }: { name: string }) {
  const earlier = earlierOf(useOperation("versions", { name }).data ?? []);
  if (!earlier) return null;
  return (
    <button type="button" className="btn" onClick={() => void rollBack(name, earlier.version)}>
      Roll back to {earlier.version}
    </button>
  );
}

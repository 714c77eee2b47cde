import { run } from "../../api/client";
import { sentence } from "../../api/errors";
import { queries, useOperation } from "../../api/hooks";
import { notify } from "../../app/notices";

/** Back to a version that is kept, the one before the active unless another is named. */
export async function rollBack(name: string, version: string): Promise<void> {
  try {
    const done = await run("rollback", { name, to: version });
    notify(`“${name}” is ${done.active.version} again.`);
  } catch (error) {
    notify(sentence(error));
  }
  void queries.invalidateQueries();
}

/** The button for it, where there is a version to go back to. */
export function RollBack({ name }: { name: string }) {
  const kept = useOperation("versions", { name }).data ?? [];
  const active = kept.findIndex((one) => one.active);
  const earlier = kept[active + 1];
  if (active < 0 || !earlier) return null;
  return (
    <button type="button" className="btn" onClick={() => void rollBack(name, earlier.version)}>
      Roll back to {earlier.version}
    </button>
  );
}

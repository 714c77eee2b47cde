/** Saves one setting: the notice "Saved: …" with undo and the matching command. The host checks and stores it. */

import { run } from "../../api/client";
import { queries } from "../../api/hooks";
import { notify } from "../../app/notices";

/** Write one setting; the status line tells the same as a command, and can take it back. Throws what is wrong. */
export async function save(key: string, name: string, value: unknown): Promise<void> {
  const saved = await run("settings_set", { key, value });
  const undo = () => void run("settings_set", { key, value: saved.before }).then(refresh);
  notify(`Saved: ${name === key ? name : name.toLowerCase()} ${saved.text}.`, undo, saved.command);
  refresh();
}

function refresh(): void {
  void queries.invalidateQueries({
    predicate: ({ queryKey }) => ["settings_show", "host_info", "models"].includes(String(queryKey[0])),
  });
}

/** A setting by its dotted name. */
export function settingAt(settings: Record<string, unknown>, key: string): unknown {
  return key
    .split(".")
    .reduce<unknown>(
      (found, part) =>
        typeof found === "object" && found !== null ? (found as Record<string, unknown>)[part] : undefined,
      settings,
    );
}

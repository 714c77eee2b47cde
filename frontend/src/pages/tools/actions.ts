/** What can be done with a tool from the list and from its panel: always on, turn off; each with undo. */

import { run } from "../../api/client";
import { sentence } from "../../api/errors";
import { queries } from "../../api/hooks";
import type { ShelfTool } from "../../api/types";
import { notify } from "../../app/notices";
import { TEXT } from "./text";

async function set(name: string, change: { enabled?: boolean; always_on?: boolean }): Promise<boolean> {
  try {
    await run("tool_set", { name, ...change });
    return true;
  } catch (error) {
    notify(sentence(error));
    return false;
  } finally {
    void queries.invalidateQueries({
      predicate: ({ queryKey }) => ["rank", "find_tools", "tool_show"].includes(String(queryKey[0])),
    });
  }
}

export async function pin(tool: ShelfTool): Promise<void> {
  const on = !tool.always_on;
  if (await set(tool.name, { always_on: on })) {
    notify(on ? TEXT.pinned(tool.tool) : TEXT.unpinned(tool.tool), () => void set(tool.name, { always_on: !on }));
  }
}

/** A tool that is off is neither offered nor callable. */
export async function ban(tool: ShelfTool): Promise<void> {
  const on = tool.standing === "off";
  if (await set(tool.name, { enabled: on })) {
    notify(on ? TEXT.turnedOn(tool.tool) : TEXT.turnedOff(tool.tool), () => void set(tool.name, { enabled: !on }));
  }
}

/** The sentence "Still loading. The host is busy with …". Pure. */

import type { HostInfo, Server } from "../api/types";
import { plural } from "./amounts";

/** `Still loading. The host is busy with 2 calls and 1 starting server.` */
export function stillLoading(info: HostInfo | undefined, servers: readonly Server[] | undefined): string {
  const starting = (servers ?? []).filter((server) => server.state === "starting").length;
  const parts = [
    info && info.counts.calls_running > 0 ? plural(info.counts.calls_running, "call") : "",
    starting > 0 ? plural(starting, "starting server") : "",
  ].filter(Boolean);
  return parts.length > 0
    ? `Still loading. The host is busy with ${parts.join(" and ")}.`
    : "Still loading. The host is busy.";
}

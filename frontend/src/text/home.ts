/** Shortens paths on all pages: the user's home folder as `~`. */

import type { Result } from "../api/client";
import { queries } from "../api/hooks";

/** The text with the home folder of the host's user replaced by `~`, once it is known. */
export function tilde(text: string): string {
  return withTilde(text, queries.getQueryData<Result<"host_info">>(["host_info", {}])?.user_home ?? "");
}

export function withTilde(text: string, home: string): string {
  if (home === "" || home === "/") return text;
  return text.split(home).reduce((before, after) => before + (isWhole(before, after) ? "~" : home) + after);
}

/** Not the middle of another path: /home/adam is not ~m, and /mnt/home/ada is not /mnt~. */
function isWhole(before: string, after: string): boolean {
  return !/[\w.\-/~]$/.test(before) && /^([/\s:;,"'”’)\]]|$)/.test(after);
}

/** How much room the window gives: from which width a panel is beside its list. */

import { useSyncExternalStore } from "react";

/** Whether it fits now, and as it changes. */
export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (watcher) => {
      const media = matchMedia(query);
      media.addEventListener("change", watcher);
      return () => media.removeEventListener("change", watcher);
    },
    () => matchMedia(query).matches,
  );
}

/** Room for a list and a panel beside it; else the panel is a page of its own. */
export function useTwoColumns(): boolean {
  return useMedia("(min-width: 1181px)");
}

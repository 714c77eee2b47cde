/** How much room the window gives. */

import { useSyncExternalStore } from "react";

function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (watcher) => {
      const media = matchMedia(query);
      media.addEventListener("change", watcher);
      return () => media.removeEventListener("change", watcher);
    },
    () => matchMedia(query).matches,
  );
}

/** One column, with the chats behind Back. */
export function useNarrow(): boolean {
  return useMedia("(max-width: 820px)");
}

/** Wide enough for the offered tools at the side. */
export function useRoom(): boolean {
  return useMedia("(min-width: 1241px)");
}

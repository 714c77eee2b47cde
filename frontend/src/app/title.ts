/** The title in the bar of a narrow window, as the page sets it for what it shows. */

import { useEffect, useSyncExternalStore } from "react";

const watchers = new Set<() => void>();
let title: string | null = null;

function put(next: string | null): void {
  title = next;
  for (const watcher of [...watchers]) watcher();
}

/** While the component is there, this is the title. */
export function useTopTitle(text: string | null): void {
  useEffect(() => {
    put(text);
    return () => put(null);
  }, [text]);
}

export function useGivenTitle(): string | null {
  return useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => void watchers.delete(watcher);
    },
    () => title,
  );
}

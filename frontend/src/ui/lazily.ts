/** Parts of the page that are loaded when they are needed first, such as the one that colors code. */

import { useEffect, useSyncExternalStore } from "react";

/** A hook that gives what `load` brings: null until then, and as long as it is not wanted. */
export function lazily<T>(load: () => Promise<T>): (wanted: boolean) => T | null {
  let loaded: T | null = null;
  let loading = false;
  const watchers = new Set<() => void>();
  function begin(): void {
    if (loading) return;
    loading = true;
    load().then(
      (found) => {
        loaded = found;
        watchers.forEach((watcher) => watcher());
      },
      () => {
        loading = false; // The next one that wants it tries again.
      },
    );
  }
  function watch(watcher: () => void): () => void {
    watchers.add(watcher);
    return () => void watchers.delete(watcher);
  }
  return function useLoaded(wanted) {
    const found = useSyncExternalStore(watch, () => loaded);
    useEffect(() => {
      if (wanted && !found) begin();
    }, [wanted, found]);
    return wanted ? found : null;
  };
}

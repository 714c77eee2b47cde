/** The title of what is shown, as its page sets it: in the bar of a narrow window, in the browser's tab, and read aloud
 * once when another page is opened. */

import { useEffect, useSyncExternalStore } from "react";

import { pageAt, placeAt } from "./places";

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

/** The parts of the browser's title, the most exact first: what is shown, its page, the program. */
export function titleParts(path: string, given: string | null): string[] {
  const [page = "", name] = path.split("/").filter(Boolean).map(decodeURIComponent);
  const place = placeAt(path);
  if (place?.page === "chat") return [given ?? place.title];
  if (!place) return [given ?? (PAGES_WITHOUT_PLACE[page] || "Page not found")];
  const shown = given ?? (pageAt(path) === place.page ? null : name);
  return shown && shown !== place.title ? [shown, place.title] : [place.title];
}

const PAGES_WITHOUT_PLACE: Record<string, string> = { welcome: "Welcome" };

export function useGivenTitle(): string | null {
  return useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => void watchers.delete(watcher);
    },
    () => title,
  );
}

/** The shortcuts that work on every page: `g` and a letter, `/` for the search field, `!` for the oldest item that
 * needs the user, `?`, Ctrl K. */

import { useEffect, useMemo } from "react";

import { queries } from "../api/hooks";
import { isTyping, lead, useKeys, type Keys } from "./keys";
import { PLACES } from "./places";
import { navigate } from "./router";
import { needPath, type Need } from "./needs";

/** The keys that work everywhere; `open` shows the palette or the list of keys. */
export function useShellKeys(open: (overlay: "palette" | "keys") => void): void {
  const keys = useMemo<Keys>(
    () => ({
      g: () => lead(Object.fromEntries(PLACES.map((place) => [place.key, () => navigate(place.path)]))),
      "?": () => open("keys"),
      "/": () => focusSearch(),
      "!": () => {
        const [oldest] = queries.getQueryData<{ items: Need[] }>(["waiting", {}])?.items ?? [];
        if (oldest) navigate(needPath(oldest));
      },
    }),
    [open],
  );
  useKeys(keys, true);
  useEffect(() => {
    function palette(event: KeyboardEvent) {
      if (event.key.toLowerCase() !== "k" || !(event.metaKey || event.ctrlKey) || event.shiftKey) return;
      if (isTyping(event.target) && (event.target as HTMLElement).closest(".palette-box")) return;
      event.preventDefault();
      open("palette");
    }
    addEventListener("keydown", palette);
    return () => removeEventListener("keydown", palette);
  }, [open]);
}

/** The page's own search has `data-search`. */
function focusSearch(): void {
  document.querySelector<HTMLInputElement>("#main [data-search]")?.focus();
}

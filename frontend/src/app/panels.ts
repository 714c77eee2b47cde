/** The panel beside a list, which the key `]` closes and opens until the page is reloaded. */

import { useMemo, useState } from "react";

import { useKeys } from "./keys";

const closed = new Set<string>();

/** Whether the side panel of this page is open; `]` toggles it until the page is reloaded. */
export function useRightPanel(page: string): boolean {
  const [open, setOpen] = useState(!closed.has(page));
  useKeys(
    useMemo(
      () => ({
        "]": () => {
          if (closed.has(page)) closed.delete(page);
          else closed.add(page);
          setOpen(!closed.has(page));
        },
      }),
      [page],
    ),
  );
  return open;
}

/** Saves the entry of a server, opens the review if it must be trusted again, and reports if the file was changed
 * meanwhile. */

import { useCallback, useState } from "react";

import { run } from "../../api/client";
import { ApiError } from "../../api/errors";
import { queries } from "../../api/hooks";
import { notify } from "../../app/notices";

/** Saves an entry; `conflict` is true if the file changed since it was read. */
export function useEntrySaver(name: string, onReview: () => void) {
  const [trouble, setTrouble] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const save = useCallback(
    async (text: string, digest: string): Promise<boolean> => {
      setBusy(true);
      setTrouble(null);
      try {
        const written = await run("entry_edit", { name, text, digest });
        notify(`Saved “${name}”.`);
        if (written.needs_trust) onReview();
        return true;
      } catch (error) {
        setTrouble(error);
        return false;
      } finally {
        setBusy(false);
        void queries.invalidateQueries();
      }
    },
    [name, onReview],
  );
  return { save, busy, trouble, conflict: trouble instanceof ApiError && trouble.kind === "conflict" };
}

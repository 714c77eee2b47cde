/** Saves the entry of a server, with undo; opens the review if it must be trusted again, and reports if the file was
 * changed meanwhile. */

import { useCallback, useState } from "react";

import { run } from "../../api/client";
import { sentence } from "../../api/errors";
import { queries } from "../../api/hooks";
import { notify } from "../../app/notices";
import { restoredText, savedText } from "./text";

export interface Edit {
  text: string;
  /** Of the entry that was edited. */
  digest: string;
  /** Store these variables and headers as secrets, and whatever looks like one; without it nothing is. */
  secrets?: readonly string[];
}

export interface EntrySaver {
  save: (edit: Edit) => Promise<boolean>;
  /** The user goes on: the last error is over. */
  forget: () => void;
  busy: boolean;
  trouble: unknown;
}

/** Saves edits of an entry, of which `before` is the text. */
export function useEntrySaver(name: string, before: string, onReview: () => void): EntrySaver {
  const [trouble, setTrouble] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const save = useCallback(
    async ({ text, digest, secrets }: Edit): Promise<boolean> => {
      setBusy(true);
      setTrouble(null);
      try {
        const written = await run("entry_edit", { name, text, digest, secrets: secrets ? [...secrets] : null });
        notify(savedText(name, written.secrets), () => void restore(name, before, written.digest));
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
    [name, before, onReview],
  );
  return { save, forget: useCallback(() => setTrouble(null), []), busy, trouble };
}

async function restore(name: string, text: string, digest: string): Promise<void> {
  try {
    await run("entry_edit", { name, text, digest });
    notify(restoredText(name));
  } catch (error) {
    notify(sentence(error));
  }
  void queries.invalidateQueries();
}

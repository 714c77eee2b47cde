/** Whether a button has had its present meaning for half a second, so that a press just after a change does
 * nothing. */

import { useEffect, useState } from "react";

const SETTLING = 500;

/** Whether a button has had its present meaning for half a second. Ask it before starting anything: the meaning may
 *  have changed just before the press. */
export function useSettled(meaning: boolean): boolean {
  const [settled, setSettled] = useState(meaning);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(meaning), SETTLING);
    return () => clearTimeout(timer);
  }, [meaning]);
  return settled === meaning;
}

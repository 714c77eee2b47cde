import { useLayoutEffect, useRef } from "react";

const SETTLING = 500;

/** Whether a button has had its present meaning for half a second. Ask it before doing what cannot be undone: the
 *  meaning may have changed just before the press. */
export function useSettled(meaning: unknown): () => boolean {
  const since = useRef(-Infinity);
  const known = useRef(meaning);
  useLayoutEffect(() => {
    if (known.current === meaning) return;
    known.current = meaning;
    since.current = performance.now();
  }, [meaning]);
  return () => performance.now() - since.current >= SETTLING;
}

/** When the host is asked what a pasted text is: 150 ms after the last key. The earlier answer stays in view until
 * then. */

import { useEffect, useState } from "react";

import { run } from "../../api/client";
import type { Recognised } from "./types";

const REST = 150;

/** What the text is, asked 150 ms after the last key. What was found before stays in view; `fresh` says it is of this text. */
export function useRecognised(
  text: string,
  asIs: boolean,
): { found: Recognised | null; fresh: boolean; error: unknown } {
  const [state, setState] = useState<{ key: string; found: Recognised | null; error: unknown }>({
    key: "",
    found: null,
    error: null,
  });
  useEffect(() => {
    if (!text.trim()) return;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      run("recognise", { text, as_is: asIs }, abort.signal).then(
        (found) => setState({ key: `${asIs} ${text}`, found, error: null }),
        (error: unknown) => !abort.signal.aborted && setState({ key: `${asIs} ${text}`, found: null, error }),
      );
    }, REST);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [text, asIs]);
  if (!text.trim()) return { found: null, fresh: false, error: null };
  return { found: state.found, fresh: state.key === `${asIs} ${text}`, error: state.error };
}

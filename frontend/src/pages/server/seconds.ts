/** A countdown in whole seconds, such as "Retrying in 8 s". */

import { useEffect, useState } from "react";

/** Whole seconds until a moment, counted down; null without one. */
export function useSeconds(until: string | null): number | null {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!until) return;
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, [until]);
  return until === null ? null : Math.max(0, Math.ceil((Date.parse(until) - now) / 1000));
}

/** A time such as "2 min ago" that stays current, and how often it is renewed. */

import { useEffect, useState } from "react";

import { ago } from "./amounts";

const TICK = 20_000;

/** How long ago something was, as long as that is near; it stays true while one looks. */
export function Ago({ when }: { when: string }) {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    setNow(new Date());
    const timer = setInterval(() => setNow(new Date()), TICK);
    return () => clearInterval(timer);
  }, [when]);
  return <time dateTime={when}>{ago(when, now)}</time>;
}

/** Follows the screen of a server while it is in view; pause before it reconnects. */

import { useEffect, useState, type RefObject } from "react";

import { stream } from "../../api/client";
import { useConnection } from "../../api/hooks";
import type { ScreenShown } from "../../api/types";

const AGAIN = 2_000;

/** The screen of a server as it changes, while the element is in view; the last picture stays. */
export function useScreen(server: string, element: RefObject<Element | null>): ScreenShown | null {
  const [shown, setShown] = useState<ScreenShown | null>(null);
  const watching = useInView(element);
  const connected = useConnection().state === "connected";
  useEffect(() => {
    if (!watching || !connected) return;
    const leaving = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    const follow = () => {
      stream(
        "screen_watch",
        { name: server },
        (next) => setShown((before) => withPicture(next, before)),
        leaving.signal,
      ).catch(() => {
        if (!leaving.signal.aborted) timer = setTimeout(follow, AGAIN);
      });
    };
    follow();
    return () => {
      leaving.abort();
      clearTimeout(timer);
    };
  }, [server, watching, connected]);
  return shown;
}

/** A change of the state alone keeps the picture, as long as the display is open. */
function withPicture(next: ScreenShown, before: ScreenShown | null): ScreenShown {
  if (next.picture || !next.open || !before?.picture) return next;
  const { picture, width, height } = before;
  return { ...next, picture, ...(width ? { width } : {}), ...(height ? { height } : {}) };
}

function useInView(element: RefObject<Element | null>): boolean {
  const [inView, setInView] = useState(false);
  const [visible, setVisible] = useState(() => document.visibilityState === "visible");
  useEffect(() => {
    const change = () => setVisible(document.visibilityState === "visible");
    document.addEventListener("visibilitychange", change);
    return () => document.removeEventListener("visibilitychange", change);
  }, []);
  useEffect(() => {
    if (!element.current) return;
    const observer = new IntersectionObserver(([entry]) => setInView(entry?.isIntersecting ?? false));
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return inView && visible;
}

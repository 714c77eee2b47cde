/** Keeps the chosen entry in view in a list that is a horizontal strip in a narrow window. */

import { useEffect, useRef, type RefObject } from "react";

/** Of a list that is a strip in a narrow window, keep the chosen one in view; nothing else moves. */
export function useChosenInView<E extends HTMLElement>(chosen: string): RefObject<E | null> {
  const strip = useRef<E>(null);
  useEffect(() => {
    const element = strip.current;
    const one = element?.querySelector<HTMLElement>('[aria-current="true"]');
    if (!element || !one || element.scrollWidth <= element.clientWidth) return;
    element.scrollLeft = one.offsetLeft - element.offsetLeft - 24;
  }, [chosen]);
  return strip;
}

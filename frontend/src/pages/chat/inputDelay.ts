/** An approval card ignores clicks and keys for half a second after it appeared or moved, so that no click meant for
 * something else answers it. */

import { useEffect, useRef, type RefObject } from "react";

export const INPUT_DELAY = 500;
const BY_HAND = 200; // Milliseconds after a turn of the wheel in which a movement is the user's own.
const KINDS = ["click", "pointerdown", "mousedown", "keydown", "keyup", "submit", "input", "paste"] as const;

export function useInputDelay(card: RefObject<HTMLElement | null>): void {
  const until = useRef(0);
  useEffect(() => {
    const element = card.current;
    if (!element) return;
    let top = element.getBoundingClientRect().top;
    let scrolled = 0;
    let frame = 0;
    until.current = performance.now() + INPUT_DELAY;
    element.dataset["deaf"] = "true";
    const byHand = () => void (scrolled = performance.now());
    function look() {
      const now = performance.now();
      const place = element?.getBoundingClientRect().top ?? 0;
      if (Math.abs(place - top) > 3 && now - scrolled > BY_HAND) until.current = now + INPUT_DELAY;
      top = place;
      if (element) element.dataset["deaf"] = String(now < until.current);
      frame = requestAnimationFrame(look);
    }
    function guard(event: Event) {
      if (performance.now() >= until.current) return;
      if (event instanceof KeyboardEvent && ["Tab", "Escape"].includes(event.key)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
    }
    for (const kind of KINDS) element.addEventListener(kind, guard, true);
    addEventListener("wheel", byHand, { passive: true });
    addEventListener("touchmove", byHand, { passive: true });
    frame = requestAnimationFrame(look);
    return () => {
      cancelAnimationFrame(frame);
      for (const kind of KINDS) element.removeEventListener(kind, guard, true);
      removeEventListener("wheel", byHand);
      removeEventListener("touchmove", byHand);
    };
  }, [card]);
}

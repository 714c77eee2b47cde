/** An approval card ignores clicks and keys for half a second after it appeared or moved, so that no click meant for
 * something else answers it. It says so when it ignored one. */

import { useEffect, useRef, useState, type RefObject } from "react";

import "./inputDelay.css";

export const INPUT_DELAY = 500;
const BY_HAND = 200; // Milliseconds after a turn of the wheel in which a movement is the user's own.
const IGNORED = "This appeared or moved just now. Press again.";
const TOLD = 4000; // Milliseconds.
const KINDS = ["click", "pointerdown", "mousedown", "keydown", "keyup", "submit", "input", "paste"] as const;

/** Whether the card ignored a press just now. */
export function useInputDelay(card: RefObject<HTMLElement | null>): boolean {
  const until = useRef(0);
  const [ignored, setIgnored] = useState(0);
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
      if (["click", "keydown"].includes(event.type)) setIgnored(performance.now());
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
  useEffect(() => {
    if (!ignored) return;
    const timer = setTimeout(() => setIgnored(0), TOLD);
    return () => clearTimeout(timer);
  }, [ignored]);
  return ignored > 0;
}

/** Lies over the head of the card, so that nothing moves. */
export function PressIgnored({ shown }: { shown: boolean }) {
  return (
    <p className="press-ignored" aria-live="polite">
      {shown && IGNORED}
    </p>
  );
}

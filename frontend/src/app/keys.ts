/** Single-key shortcuts, which work only outside text fields and can be turned off: how long the key after `g` is
 * awaited, which layer wins. */

import { useEffect } from "react";

type Action = (event: KeyboardEvent) => void;
export type Keys = Record<string, Action>;

const SWITCH = "toolcrib.single-keys";
const layers: Keys[] = [];
let leader: { keys: Keys; until: number } | null = null;

export function singleKeysOn(): boolean {
  return localStorage.getItem(SWITCH) !== "off";
}

export function setSingleKeys(on: boolean): void {
  localStorage.setItem(SWITCH, on ? "on" : "off");
}

/** True where letters are text. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

/** The next key within a second belongs to these, as after `g`. */
export function lead(keys: Keys): void {
  leader = { keys, until: Date.now() + 1000 };
}

/** The next key is awaited: nothing may take it away by taking the focus. */
export function isLed(): boolean {
  return leader !== null && Date.now() < leader.until;
}

addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return;
  if (event.key !== "Escape" && (isTyping(event.target) || !singleKeysOn())) return;
  if (event.key !== "Escape" && document.querySelector('[role="dialog"],[role="alertdialog"],[role="menu"]')) return;
  const led = isLed() ? leader?.keys[event.key] : undefined;
  leader = null;
  const action = led ?? [...layers].reverse().find((layer) => layer[event.key])?.[event.key];
  if (!action) return;
  if (event.key !== "Escape") event.preventDefault();
  action(event);
});

/** While the component is there, these keys do this; the innermost wins, those of `everywhere` last. Names are those of
 * `event.key`. */
export function useKeys(keys: Keys, everywhere = false): void {
  useEffect(() => {
    // The effect of a page that is there at once runs before that of the frame around it.
    if (everywhere) layers.unshift(keys);
    else layers.push(keys);
    return () => void layers.splice(layers.indexOf(keys), 1);
  }, [keys, everywhere]);
}

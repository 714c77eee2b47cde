/** Where the keyboard focus goes when a dialog opens, and where it returns when a dialog or a menu closes. */

import { useCallback, useRef, useState } from "react";

const DIALOG = "[role=dialog], [role=alertdialog]";
const FIELD = "input:not([type=hidden], [type=file]), textarea, select, [role=combobox]";
const CONTROL = `button, a[href], ${FIELD}, [tabindex="0"]`;
const HEADING = "h1, h2, h3";

/** What opened each dialog: the element, then its ancestors, the nearest first. */
const openedFrom = new WeakMap<Element, readonly HTMLElement[]>();
let lastFocused: HTMLElement | null = null;

if (typeof document !== "undefined")
  document.addEventListener("focusin", ({ target }) => void (lastFocused = target as HTMLElement));

/** For the content of every dialog. The focus goes to `[data-first]` or the first field, else to the main action,
 * else to the dialog; a `careful` dialog, and one with a dangerous action, offers its safe button instead. */
export function useDialogFocus(careful = false) {
  const [opener] = useState(() => pathOf(focused() ?? lostFocus()));
  const first = useRef<HTMLElement | null>(null);
  const focusNow = useCallback(
    (content: HTMLElement) => {
      const found = firstOf(content, careful);
      first.current = found.matches(FIELD) ? null : found;
      if (found !== focused()) found.focus({ preventScroll: !found.matches(FIELD) });
    },
    [careful],
  );
  const ref = useCallback(
    (content: HTMLElement | null) => {
      if (!content) return;
      openedFrom.set(content, opener);
      // What is loaded later, and the next step, get the focus unless the user has moved it.
      const observer = new MutationObserver(() => {
        if (isOnTop(content) && [null, content, first.current].includes(focused())) focusNow(content);
      });
      observer.observe(content, { childList: true, subtree: true, attributeFilter: ["disabled"] });
      return () => observer.disconnect();
    },
    [opener, focusNow],
  );
  return {
    ref,
    onOpenAutoFocus: (event: Event) => {
      event.preventDefault();
      focusNow(event.currentTarget as HTMLElement);
    },
    onCloseAutoFocus: (event: Event) => {
      event.preventDefault();
      if (focused() === null) giveBack(opener);
    },
  };
}

/** For the content of every menu: an entry may remove what the menu was opened from, or somebody else does. */
export function useMenuFocus() {
  const opener = useRef<readonly HTMLElement[]>([]);
  return {
    ref: (content: HTMLElement | null) => {
      if (content) opener.current = pathOf(content);
    },
    onCloseAutoFocus: (event: Event) => {
      event.preventDefault();
      if (focused() === null) giveBack(opener.current);
    },
  };
}

function firstOf(content: HTMLElement, careful: boolean): HTMLElement {
  const all = (selector: string) => [...content.querySelectorAll<HTMLElement>(selector)].filter(isUsable);
  const foot = all(":is(.align-end, .step-foot) .btn:not(.icon-only)");
  const actions = foot.length > 0 ? foot : all(".btn:not(.icon-only)");
  const safe = careful || actions.some((button) => button.matches(".danger"));
  const action = actions.find((button) => (safe ? !button.matches(".primary, .danger") : button.matches(".primary")));
  const [field] = [...all("[data-first]"), ...all(FIELD)];
  return field ?? action ?? content;
}

/** Focus what opened the dialog; if that is gone, a control of its row, or the heading that it stood under. */
function giveBack(opener: readonly HTMLElement[]): void {
  const now = neighbourOf(opener);
  if (now.matches(HEADING)) now.tabIndex = -1;
  now.focus({ preventScroll: true });
  // A list that is loaded again may remove it a moment later.
  const observer = new MutationObserver(() => {
    if (now.isConnected) return;
    observer.disconnect();
    if (focused() === null) giveBack(opener);
  });
  observer.observe(document.body, { childList: true, subtree: true });
  document.addEventListener("focusin", () => observer.disconnect(), { once: true });
}

function neighbourOf(opener: readonly HTMLElement[]): HTMLElement {
  for (const one of opener) {
    if (!one.isConnected) continue;
    if (one.matches(CONTROL) && isUsable(one)) return one;
    const inside = one.matches("li, tr, [role=row]") ? CONTROL : HEADING;
    const found = [...one.querySelectorAll<HTMLElement>(inside)].find(isVisible);
    if (found) return found;
  }
  return document.getElementById("main") ?? document.body;
}

/** The element and its ancestors; an item of a menu stands for the menu's button, and what encloses a dialog is
 * what opened that dialog. */
function pathOf(element: HTMLElement | null): HTMLElement[] {
  const path: HTMLElement[] = [];
  for (let one = element; one && one !== document.body; one = one.parentElement) {
    if (one.matches("[role=menu]")) return pathOf(document.getElementById(one.getAttribute("aria-labelledby") ?? ""));
    path.push(one);
    if (one.matches(DIALOG)) return [...path, ...(openedFrom.get(one) ?? [])];
  }
  return path;
}

function focused(): HTMLElement | null {
  const active = document.activeElement;
  return active instanceof HTMLElement && active !== document.body ? active : null;
}

/** What had the focus until it was disabled or removed; not what the user has left. */
function lostFocus(): HTMLElement | null {
  return lastFocused && !(lastFocused.isConnected && isUsable(lastFocused)) ? lastFocused : null;
}

function isOnTop(content: HTMLElement): boolean {
  return [...document.querySelectorAll(DIALOG)].at(-1) === content;
}

function isUsable(element: HTMLElement): boolean {
  return !element.matches(":disabled, [aria-hidden=true]") && isVisible(element);
}

function isVisible(element: HTMLElement): boolean {
  return element.checkVisibility({ visibilityProperty: true });
}

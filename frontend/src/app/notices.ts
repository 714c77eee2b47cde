/** What just happened: one sentence at a time in the status line, with a way back where there is one. */

import { useSyncExternalStore } from "react";

export interface Notice {
  id: number;
  text: string;
  undo?: () => void;
  /** When it goes, as milliseconds of the clock. */
  until: number;
}

const SHORT = 8_000;
const LONG = 24_000;
const watchers = new Set<() => void>();
let current: Notice | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;
let count = 0;

function show(notice: Notice | null): void {
  current = notice;
  clearTimeout(timer);
  if (notice) timer = setTimeout(() => show(null), notice.until - Date.now());
  watchers.forEach((watcher) => watcher());
}

export function notify(text: string, undo?: () => void): void {
  const notice: Notice = { id: ++count, text, until: Date.now() + (undo ? LONG : SHORT) };
  if (undo) notice.undo = () => { show(null); undo(); };
  show(notice);
}

/** Somebody reads it: it stays until `resume`. */
export function hold(): void {
  clearTimeout(timer);
}

export function resume(): void {
  if (current) show({ ...current, until: Date.now() + (current.undo ? LONG : SHORT) });
}

export function useNotice(): Notice | null {
  return useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => void watchers.delete(watcher);
    },
    () => current,
  );
}

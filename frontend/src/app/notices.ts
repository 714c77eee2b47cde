/** Notices in the status line: one at a time, with undo if possible. How long a notice stays, and how many earlier
 * ones are kept. */

import { useSyncExternalStore } from "react";

export interface Notice {
  id: number;
  text: string;
  /** The matching command, for scripts. */
  command?: string;
  undo?: () => void;
  /** When it goes, as milliseconds of the clock. */
  until: number;
  /** The user is reading it: it stays. */
  held?: boolean;
}

/** An earlier notice. */
export interface Said {
  id: number;
  text: string;
  at: Date;
}

const KEPT = 50;
let said: readonly Said[] = [];

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

export function notify(text: string, undo?: () => void, command?: string): void {
  const notice: Notice = {
    id: ++count,
    text,
    until: Date.now() + (undo ? LONG : SHORT),
    ...(command ? { command } : {}),
  };
  said = [{ id: notice.id, text, at: new Date() }, ...said].slice(0, KEPT);
  if (undo)
    notice.undo = () => {
      show(null);
      undo();
    };
  show(notice);
}

/** Keep the notice until `resume`. */
export function hold(): void {
  if (!current || current.held) return;
  show({ ...current, held: true });
  clearTimeout(timer);
}

export function resume(): void {
  if (current) show({ ...current, held: false, until: Date.now() + (current.undo ? LONG : SHORT) });
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => void watchers.delete(watcher);
}

export function useNotice(): Notice | null {
  return useSyncExternalStore(watch, () => current);
}

/** The newest first. */
export function useSaid(): readonly Said[] {
  return useSyncExternalStore(watch, () => said);
}

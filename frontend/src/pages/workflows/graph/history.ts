/** Undo and redo: how many changes are kept, and which are undone together. Pure. */

const MOST = 100;

export interface History<T> {
  readonly past: readonly T[];
  readonly present: T;
  readonly future: readonly T[];
  /** What the last change was to; changes to the same thing are undone together. */
  readonly key: string | null;
}

export function begin<T>(present: T): History<T> {
  return { past: [], present, future: [], key: null };
}

/** Go on from a change. Changes with the same key, such as letters typed into one field, are one step back. */
export function record<T>(history: History<T>, present: T, key: string | null = null): History<T> {
  if (present === history.present) return history;
  const joined = key !== null && key === history.key;
  const past = joined ? history.past : [...history.past, history.present].slice(-MOST);
  return { past, present, future: [], key };
}

export function undo<T>(history: History<T>): History<T> {
  const present = history.past.at(-1);
  if (present === undefined) return history;
  return {
    past: history.past.slice(0, -1),
    present,
    future: [history.present, ...history.future].slice(0, MOST),
    key: null,
  };
}

export function redo<T>(history: History<T>): History<T> {
  const [present, ...future] = history.future;
  if (present === undefined) return history;
  return { past: [...history.past, history.present].slice(-MOST), present, future, key: null };
}

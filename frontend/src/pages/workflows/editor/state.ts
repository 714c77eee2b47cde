/** What the editor holds: the workflow with its history, selection, breakpoints, and what is stored. Unsaved changes
 * are kept until a reload, and closing the tab warns. */

import { useEffect, useMemo, useState, useSyncExternalStore } from "react";

import { sameFile } from "../graph/changes";
import type { Graph } from "../graph/file";
import { begin, record, redo, undo, type History } from "../graph/history";

export interface EditorState {
  history: History<Graph>;
  selected: ReadonlySet<string>;
  /** Steps before which a run pauses. */
  breakpoints: ReadonlySet<string>;
  /** As it is stored, and which version that is. */
  stored: Graph;
  version: string;
}

/** The steps to select, or how to choose them from those that are selected. */
export type Choice = Iterable<string> | ((selected: ReadonlySet<string>) => Iterable<string>);

/** A change, made to the workflow as it is when the change arrives. */
export type Edit = (graph: Graph) => Graph;

type Action =
  | { type: "change"; edit: Edit; key: string | null; select?: Iterable<string> }
  | { type: "undo" | "redo" }
  | { type: "select"; choose: Choice }
  | { type: "breakpoint"; id: string }
  | { type: "stored"; graph: Graph; version: string }
  | { type: "load"; graph: Graph; version: string };

export interface EditorControls {
  state: EditorState;
  graph: Graph;
  dirty: boolean;
  /** The state as it is now. A key pressed right after another finds what the first did, drawn or not. */
  now: () => EditorState;
  /** Changes with the same key are undone together. */
  change: (edit: Edit, key?: string | null, select?: Iterable<string>) => void;
  undo: () => void;
  redo: () => void;
  select: (choose: Choice) => void;
  toggleBreakpoint: (id: string) => void;
  /** This is what the host has now. */
  markStored: (graph: Graph, version: string) => void;
  load: (graph: Graph, version: string) => void;
}

/** Drafts of workflows that were left without saving; they last until the page is reloaded. */
const left = new Map<string, EditorState>();

function fresh(graph: Graph, version: string): EditorState {
  return { history: begin(graph), selected: new Set(), breakpoints: new Set(), stored: graph, version };
}

function reduce(state: EditorState, action: Action): EditorState {
  switch (action.type) {
    case "change": {
      const history = record(state.history, action.edit(state.history.present), action.key);
      return { ...state, history, selected: existing(action.select ?? state.selected, history.present) };
    }
    case "undo":
    case "redo": {
      const history = action.type === "undo" ? undo(state.history) : redo(state.history);
      return { ...state, history, selected: existing(state.selected, history.present) };
    }
    case "select":
      return { ...state, selected: existing(chosen(action.choose, state.selected), state.history.present) };
    case "breakpoint": {
      const breakpoints = new Set(state.breakpoints);
      if (!breakpoints.delete(action.id)) breakpoints.add(action.id);
      return { ...state, breakpoints };
    }
    case "stored":
      return { ...state, stored: action.graph, version: action.version };
    case "load": {
      const history = record(state.history, action.graph);
      return { ...state, history, stored: action.graph, version: action.version };
    }
  }
}

function chosen(choose: Choice, selected: ReadonlySet<string>): Iterable<string> {
  return typeof choose === "function" ? choose(selected) : choose;
}

function existing(ids: Iterable<string>, graph: Graph): ReadonlySet<string> {
  return new Set([...ids].filter((id) => graph.nodes[id]));
}

export function isDirty(state: EditorState): boolean {
  return !sameFile(state.history.present, state.stored);
}

/** The state outside of React, which draws it some time after each change. */
function createStore(initial: EditorState) {
  let state = initial;
  const listeners = new Set<() => void>();
  return {
    now: () => state,
    subscribe: (listener: () => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    send: (action: Action) => {
      state = reduce(state, action);
      for (const listener of listeners) listener();
    },
  };
}

type Store = ReturnType<typeof createStore>;

export function useEditorState(graph: Graph, version: string): EditorControls {
  const [store] = useState(() => createStore(left.get(graph.name) ?? fresh(graph, version)));
  const state = useSyncExternalStore(store.subscribe, store.now);
  const dirty = useMemo(() => isDirty(state), [state]);
  const actions = useMemo(() => actionsOf(store), [store]);
  useKept(graph.name, state, dirty);
  return useMemo(() => ({ ...actions, state, graph: state.history.present, dirty }), [actions, state, dirty]);
}

function actionsOf({ now, send }: Store): Omit<EditorControls, "state" | "graph" | "dirty"> {
  return {
    now,
    change: (edit, key = null, select) => send({ type: "change", edit, key, ...(select ? { select } : {}) }),
    undo: () => send({ type: "undo" }),
    redo: () => send({ type: "redo" }),
    select: (choose) => send({ type: "select", choose }),
    toggleBreakpoint: (id) => send({ type: "breakpoint", id }),
    markStored: (stored, next) => send({ type: "stored", graph: stored, version: next }),
    load: (next, stored) => send({ type: "load", graph: next, version: stored }),
  };
}

/** Keep an unsaved draft while another page is open, and warn before the tab closes. */
function useKept(name: string, state: EditorState, dirty: boolean): void {
  useEffect(() => {
    if (dirty) left.set(name, state);
    else left.delete(name);
  }, [name, state, dirty]);
  useEffect(() => {
    if (!dirty) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }, [dirty]);
}

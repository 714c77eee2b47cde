/** The keys of the editor, in the canvas and in the list: save, undo, copy, paste, duplicate, delete with undo,
 * l, n. */

import { useEffect, useMemo } from "react";

import { isTyping, useKeys, type Keys } from "../../../app/keys";
import { notify } from "../../../app/notices";
import { removeSteps } from "../graph/commands";
import { copySteps, pasteSteps, readFragment, type Fragment } from "../graph/fragment";
import type { Kinds } from "../graph/kinds";
import { STEPS } from "../text/editor";
import type { EditorControls } from "./state";
import type { Saving } from "./useSaving";
import type { Open, View } from "./views";

interface Options {
  editor: EditorControls;
  kinds: Kinds;
  frozen: boolean;
  saving: Saving;
  view: View;
  onView: (view: View) => void;
  onOpen: (open: Open) => void;
}

export function useEditorKeys(options: Options): void {
  const { editor, kinds, frozen, saving, view, onView, onOpen } = options;
  // The handlers read `now`: the next key may come before React has drawn what the last one did.
  const { now, change, select, undo, redo } = editor;
  const { save } = saving;
  useKeys(
    useMemo<Keys>(() => {
      const keys: Keys = { l: () => onView(view === "list" ? "canvas" : "list") };
      if (frozen) return keys;
      const remove = () => removeWithUndo({ now, change, undo }, kinds, now().selected);
      return { ...keys, n: () => onOpen({ what: "add" }), Delete: remove, Backspace: remove };
    }, [now, change, undo, kinds, frozen, view, onView, onOpen]),
  );
  useEffect(() => {
    function press(event: KeyboardEvent) {
      if (!(event.metaKey || event.ctrlKey) || event.altKey || inDialog()) return;
      const key = event.key.toLowerCase();
      if (key === "s") return act(event, () => void save());
      if (isTyping(event.target) || frozen) return;
      if (key === "z") return act(event, event.shiftKey ? redo : undo);
      if (key === "y") return act(event, redo);
      if (key === "d") return act(event, () => duplicateSteps({ now, change }, now().selected));
      if (key === "a" && inSteps(event.target)) act(event, () => select(Object.keys(now().history.present.nodes)));
    }
    // In the browser's own event the clipboard has the steps before the next key is read; `navigator.clipboard`
    // writes some time later, and a paste right after it would find what was there before.
    function copy(event: ClipboardEvent) {
      const { selected, history } = now();
      if (isTyping(event.target) || frozen || inDialog() || selected.size === 0 || String(getSelection() ?? "")) return;
      event.preventDefault();
      event.clipboardData?.setData("text/plain", JSON.stringify(copySteps(history.present, selected), null, 2));
      notify(STEPS.copied(selected.size));
    }
    function paste(event: ClipboardEvent) {
      if (isTyping(event.target) || frozen || inDialog()) return;
      const fragment = readFragment(event.clipboardData?.getData("text/plain") ?? "");
      if (!fragment) return;
      event.preventDefault();
      notify(STEPS.pasted(put({ now, change }, fragment)));
    }
    addEventListener("keydown", press);
    addEventListener("copy", copy);
    addEventListener("paste", paste);
    return () => {
      removeEventListener("keydown", press);
      removeEventListener("copy", copy);
      removeEventListener("paste", paste);
    };
  }, [now, change, select, undo, redo, save, frozen]);
}

function act(event: Event, perform: () => void): void {
  event.preventDefault();
  perform();
}

function inDialog(): boolean {
  return document.querySelector("[role=dialog]") !== null;
}

function inSteps(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest(".workflow-main") !== null;
}

type Changing = Pick<EditorControls, "now" | "change">;

export function removeWithUndo(
  editor: Changing & Pick<EditorControls, "undo">,
  kinds: Kinds,
  ids: Iterable<string>,
): void {
  const graph = editor.now().history.present;
  const next = removeSteps(graph, kinds, ids);
  if (next === graph) return;
  editor.change(() => next, null, []);
  const count = Object.keys(graph.nodes).length - Object.keys(next.nodes).length;
  notify(STEPS.removed(count), editor.undo);
}

export function duplicateSteps(editor: Changing, ids: Iterable<string>): void {
  const fragment = copySteps(editor.now().history.present, ids);
  if (Object.keys(fragment.nodes).length > 0) put(editor, fragment);
}

/** Add the steps and select them; how many they are. */
function put({ now, change }: Changing, fragment: Fragment): number {
  const pasted = pasteSteps(now().history.present, fragment);
  change(() => pasted.graph, null, pasted.ids);
  return pasted.ids.length;
}

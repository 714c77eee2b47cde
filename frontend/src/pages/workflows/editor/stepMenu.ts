/** What the menu of a step offers, on the canvas and in the list. */

import type { MenuEntry } from "../../../ui/Menu";
import type { Look } from "../canvas/flow";
import { changeStep } from "../graph/commands";
import type { Graph } from "../graph/file";
import { STEPS } from "../text/editor";
import type { EditorControls } from "./state";
import { duplicateSteps, removeWithUndo } from "./useEditorKeys";
import type { Open } from "./views";

interface Options {
  editor: EditorControls;
  look: Look;
  graph: Graph;
  onOpen: (open: Open) => void;
}

export function stepEntries({ editor, look, graph, onOpen }: Options, id: string): MenuEntry[] {
  const step = graph.nodes[id];
  if (!step) return [];
  const chosen = (perform: () => void) => () => {
    editor.select([id]);
    perform();
  };
  return [
    { name: STEPS.add, onSelect: chosen(() => onOpen({ what: "add" })) },
    { name: STEPS.connect, onSelect: chosen(() => onOpen({ what: "connect" })) },
    {
      name: look.breakpoints.has(id) ? STEPS.clearBreakpoint : STEPS.setBreakpoint,
      apart: true,
      onSelect: () => editor.toggleBreakpoint(id),
    },
    {
      name: step.enabled ? STEPS.turnOff : STEPS.turnOn,
      onSelect: () => editor.change((now) => changeStep(now, id, { enabled: !step.enabled })),
    },
    { name: STEPS.duplicate, apart: true, onSelect: () => duplicateSteps(editor, [id]) },
    { name: STEPS.remove, danger: true, onSelect: () => removeWithUndo(editor, look.kinds, [id]) },
  ];
}

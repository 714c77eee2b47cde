/** The dialog "Connect": where the outputs of the selected step lead, without the canvas; a wrong choice says why. */

import { useId, useState } from "react";

import { Dialog } from "../../../ui/Dialog";
import { connect, disconnect } from "../graph/commands";
import { ERROR, nameOf } from "../graph/file";
import { hasErrorOutput, outputsOf, type Kinds } from "../graph/kinds";
import { rowsOf } from "../graph/order";
import { refusal } from "../graph/rules";
import { outputLabel } from "../text/edges";
import { ADD } from "../text/editor";
import { findMisfit } from "./edgeTypes";
import type { EditorControls } from "./state";

/** Where the outputs of the selected step lead, without the canvas; a wrong choice says why. */
export function ConnectDialog({
  editor,
  kinds,
  onClose,
}: {
  editor: EditorControls;
  kinds: Kinds;
  onClose: () => void;
}) {
  const { graph } = editor;
  const [from = ""] = editor.state.selected;
  const step = graph.nodes[from];
  const outputs = step ? [...outputsOf(step, kinds), ...(hasErrorOutput(step) ? [ERROR] : [])] : [];
  if (!step) return null;
  return (
    <Dialog title={ADD.connectTitle(nameOf(graph, from))} onClose={onClose}>
      <div className="dialog-form">
        {outputs.map((output) => (
          <OutputRow key={output} {...{ editor, kinds, from, output }} />
        ))}
        <div className="row align-end">
          <button type="button" className="btn primary" onClick={onClose}>
            {ADD.done}
          </button>
        </div>
      </div>
    </Dialog>
  );
}

interface RowProps {
  editor: EditorControls;
  kinds: Kinds;
  from: string;
  output: string;
}

function OutputRow({ editor, kinds, from, output }: RowProps) {
  const { graph } = editor;
  const id = useId();
  const [wrong, setWrong] = useState("");
  const to = graph.edges.find((edge) => edge.from === from && edge.output === output)?.to ?? "";
  async function choose(target: string) {
    const edge = { from, output, to: target };
    if (!target) {
      setWrong("");
      return editor.change((now) => disconnect(now, edge));
    }
    const why = target === to ? "" : refusal(graph, kinds, edge) || (await findMisfit(graph, edge));
    setWrong(why);
    if (!why) editor.change((now) => connect(now, edge));
  }
  return (
    <div>
      <label className="form-label" htmlFor={id}>
        {outputLabel(output) || ADD.outputs["next"]}
      </label>
      <select
        id={id}
        className="field select-field full-width"
        value={to}
        aria-invalid={wrong !== "" || undefined}
        aria-describedby={wrong ? `${id}-wrong` : undefined}
        onChange={(event) => void choose(event.target.value)}
      >
        <option value="">{ADD.nowhere}</option>
        {rowsOf(graph, kinds)
          .filter((row) => row.id !== from)
          .map((row) => (
            <option key={row.id} value={row.id}>
              {`${"\u2003".repeat(row.depth)}${nameOf(graph, row.id)}`}
            </option>
          ))}
      </select>
      {wrong && (
        <p id={`${id}-wrong`} className="error-text text-small space-above-4" role="alert">
          {wrong}
        </p>
      )}
    </div>
  );
}

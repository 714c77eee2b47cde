/** The dialog "Add a step" (key n): finding a type by typing, and after which output of the selected step it is
 * put. */

import { useMemo, useState, type KeyboardEvent } from "react";

import { Dialog } from "../../../ui/Dialog";
import { Icon } from "../../../ui/Icon";
import { addStep } from "../graph/commands";
import { ERROR, nameOf } from "../graph/file";
import { hasErrorOutput, outputsOf, type Kinds } from "../graph/kinds";
import { placed } from "../graph/layout";
import { outputLabel } from "../text/edges";
import { ADD, PALETTE } from "../text/editor";
import { iconOf, offeredKinds } from "./kinds";
import type { EditorControls } from "./state";

/** Choose a type of step by typing, and which output of the selected step it follows. */
export function AddDialog({ editor, kinds, onClose }: { editor: EditorControls; kinds: Kinds; onClose: () => void }) {
  const [after] = editor.state.selected;
  const step = after === undefined ? undefined : editor.graph.nodes[after];
  const outputs = useMemo(
    () => (step ? [...outputsOf(step, kinds), ...(hasErrorOutput(step) ? [ERROR] : [])] : []),
    [step, kinds],
  );
  const [output, setOutput] = useState(() => outputs.find((one) => !isUsed(one)) ?? outputs[0] ?? "");
  const [words, setWords] = useState("");
  const [index, setIndex] = useState(0);
  const offered = offeredKinds(kinds, words).flatMap((group) => group.kinds);
  const chosen = Math.min(index, Math.max(0, offered.length - 1));

  function isUsed(name: string): boolean {
    return editor.graph.edges.some((edge) => edge.from === after && edge.output === name);
  }
  function add(type: string | undefined) {
    if (!type) return;
    const place = after !== undefined && output ? { after: { id: after, output } } : {};
    const added = addStep(editor.now().history.present, kinds, type, place);
    editor.change(() => placed(added.graph), null, [added.id]);
    onClose();
  }
  function press(event: KeyboardEvent) {
    if (event.key === "ArrowDown") setIndex((chosen + 1) % Math.max(1, offered.length));
    else if (event.key === "ArrowUp") setIndex((chosen + offered.length - 1) % Math.max(1, offered.length));
    else if (event.key === "Enter") add(offered[chosen]?.name);
    else return;
    event.preventDefault();
  }

  return (
    <Dialog title={ADD.title} onClose={onClose}>
      <div className="dialog-form">
        {step && after !== undefined && (
          <div className="row">
            <label htmlFor="add-output" className="secondary ellipsis">
              {ADD.after(nameOf(editor.graph, after))}
            </label>
            {outputs.length > 1 && (
              <select
                id="add-output"
                className="field select-field"
                value={output}
                onChange={(event) => setOutput(event.target.value)}
              >
                {outputs.map((one) => (
                  <option key={one} value={one}>
                    {outputLabel(one) || ADD.outputs["next"]}
                  </option>
                ))}
              </select>
            )}
          </div>
        )}
        <div className="field">
          <Icon name="search" small />
          <input
            data-first
            role="combobox"
            aria-expanded
            aria-controls="add-kinds"
            aria-activedescendant={offered[chosen] ? `add-${offered[chosen].name}` : undefined}
            aria-label={PALETTE.label}
            placeholder={PALETTE.search}
            value={words}
            onChange={(event) => {
              setWords(event.target.value);
              setIndex(0);
            }}
            onKeyDown={press}
          />
        </div>
        <ul id="add-kinds" role="listbox" aria-label={PALETTE.title} className="kind-options">
          {offered.map((kind, place) => (
            <li
              key={kind.name}
              id={`add-${kind.name}`}
              role="option"
              aria-selected={place === chosen}
              onClick={() => add(kind.name)}
              onMouseMove={() => setIndex(place)}
            >
              <Icon name={iconOf(kind)} small />
              <b className="medium nowrap">{kind.title}</b>
              <span className="muted text-small ellipsis">{kind.about}</span>
            </li>
          ))}
        </ul>
        {offered.length === 0 && <p className="muted">{PALETTE.nothing}</p>}
      </div>
    </Dialog>
  );
}

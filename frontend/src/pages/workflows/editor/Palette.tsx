/** The list of step types at the left of the canvas: search, adding by click, dragging. Groups and icons are in
 * `kinds.ts`. */

import { useDeferredValue, useState } from "react";

import { Icon } from "../../../ui/Icon";
import { DRAGGED_KIND } from "./dragging";
import type { Kinds } from "../graph/kinds";
import { PALETTE } from "../text/editor";
import { iconOf, offeredKinds } from "./kinds";

/** The types of steps; a click adds one after the selected step, dragging puts it on the canvas. */
export function Palette({ kinds, onAdd }: { kinds: Kinds; onAdd: (type: string) => void }) {
  const [words, setWords] = useState("");
  const groups = offeredKinds(kinds, useDeferredValue(words));
  const first = groups[0]?.kinds[0];
  return (
    <aside className="workflow-palette" aria-label={PALETTE.title}>
      <label className="field palette-field">
        <Icon name="search" small />
        <input
          data-search
          placeholder={PALETTE.search}
          aria-label={PALETTE.label}
          value={words}
          onChange={(event) => setWords(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || !first || !words) return;
            onAdd(first.name);
            setWords("");
          }}
        />
      </label>
      {groups.map((group) => (
        <div key={group.name} role="group" aria-label={PALETTE.groups[group.name]}>
          <div className="group-label">{PALETTE.groups[group.name]}</div>
          {group.kinds.map((kind) => (
            <button
              key={kind.name}
              type="button"
              className="palette-step"
              title={kind.about}
              draggable
              onDragStart={(event) => event.dataTransfer.setData(DRAGGED_KIND, kind.name)}
              onClick={() => onAdd(kind.name)}
            >
              <Icon name={iconOf(kind)} small />
              <span className="ellipsis">{kind.title}</span>
            </button>
          ))}
        </div>
      ))}
      {groups.length === 0 && <p className="muted text-small palette-nothing">{PALETTE.nothing}</p>}
    </aside>
  );
}

/** The button that inserts a value from an earlier step into a field, with its searchable list. */

import { Popover } from "radix-ui";
import { useState } from "react";

import { reveal } from "../../../ui/hidden";
import { referenceTo, type Source } from "../graph/references";
import { PICKER } from "../text/panel";

interface Props {
  /** What the value is for, such as the name of a field. */
  field: string;
  sources: readonly Source[];
  onPick: (reference: string) => void;
}

/** A button that lists the values of earlier steps and inserts a reference to one. */
export function ReferencePicker({ field, sources, onPick }: Props) {
  const [open, setOpen] = useState(false);
  return (
    <Popover.Root open={open} onOpenChange={setOpen}>
      <Popover.Trigger asChild>
        <button
          type="button"
          className="btn bare small icon-only reference-button"
          aria-label={`${PICKER.open}: ${field}`}
          title={PICKER.open}
        >
          <span className="mono" aria-hidden="true">
            {"{ }"}
          </span>
        </button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content className="menu reference-menu" align="end" sideOffset={4} collisionPadding={8}>
          <Values
            sources={sources}
            onPick={(path) => {
              setOpen(false);
              onPick(referenceTo(path));
            }}
          />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

function Values({ sources, onPick }: { sources: readonly Source[]; onPick: (path: string) => void }) {
  const [words, setWords] = useState("");
  const wanted = words.trim().toLowerCase();
  const found = sources
    .map((source) => ({
      ...source,
      values: source.values.filter((one) => `${source.title} ${one.path} ${one.about}`.toLowerCase().includes(wanted)),
    }))
    .filter((source) => source.values.length > 0);
  if (sources.length === 0) return <p className="secondary text-small reference-none">{PICKER.none}</p>;
  return (
    <>
      <div className="field">
        <input
          aria-label={PICKER.filter}
          placeholder={PICKER.filter}
          value={words}
          onChange={(event) => setWords(event.target.value)}
        />
      </div>
      <div className="reference-values">
        {found.map((source) => (
          <div key={source.root} role="group" aria-label={source.title}>
            <div className="group-label">{reveal(source.title)}</div>
            {source.values.map((one) => (
              <button key={one.path} type="button" className="reference-value" onClick={() => onPick(one.path)}>
                <span className="mono ellipsis">{one.name}</span>
                <span className="muted text-small nowrap">{one.type}</span>
                {one.about && <span className="muted text-small reference-about">{reveal(one.about)}</span>}
              </button>
            ))}
          </div>
        ))}
        {found.length === 0 && <p className="secondary text-small reference-none">{PICKER.nothing(words)}</p>}
      </div>
    </>
  );
}

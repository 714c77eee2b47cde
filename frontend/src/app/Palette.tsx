/** The search dialog (Ctrl K, "Search or run a command"): its field, keys, most results. What it finds is in
 * `paletteSources.ts`, the order in `paletteEntries.ts`. */

import { Dialog as Radix } from "radix-ui";
import { useEffect, useEffectEvent, useState, type KeyboardEvent } from "react";

import { plural } from "../ui/amounts";
import { useDialogFocus } from "../ui/dialogFocus";
import { Icon } from "../ui/Icon";
import { Glyph } from "../ui/Status";
import "./palette.css";
import { paletteEntries, type PaletteEntry } from "./paletteEntries";
import { usePaletteSources } from "./paletteSources";

/** Find anything and do it, from the keyboard. It never runs what would be asked about: it opens the question. */
export function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState("");
  const [index, setIndex] = useState(0);
  const [entered, setEntered] = useState(false);
  const [inside, setInside] = useState<PaletteEntry | null>(null);
  const focus = useDialogFocus();
  const sources = usePaletteSources(text);
  const entries = inside?.more ?? paletteEntries(text, sources);
  const chosen = Math.min(index, Math.max(0, entries.length - 1));

  function perform(entry: PaletteEntry | undefined) {
    if (!entry) return;
    onClose();
    entry.perform();
  }

  // Enter before the first answers waits for them: what is found until then may not be what is meant.
  const first = useEffectEvent(() => perform(entries[chosen]));
  useEffect(() => {
    if (entered && !sources.isLoading) first();
  }, [entered, sources.isLoading]);

  function press(event: KeyboardEvent) {
    if (event.key === "ArrowDown") setIndex((chosen + 1) % Math.max(1, entries.length));
    else if (event.key === "ArrowUp") setIndex((chosen + entries.length - 1) % Math.max(1, entries.length));
    else if (event.key === "Enter" && sources.isLoading) setEntered(true);
    else if (event.key === "Enter") perform(event.metaKey || event.ctrlKey ? entries.at(-1) : entries[chosen]);
    else if (event.key === "ArrowRight" && entries[chosen]?.more && atEnd(event.target)) open(entries[chosen]);
    else if (event.key === "ArrowLeft" && inside) open(null);
    else return;
    event.preventDefault();
  }

  function open(entry: PaletteEntry | null | undefined) {
    setInside(entry ?? null);
    setIndex(0);
  }

  return (
    <Radix.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="overlay palette">
          <Radix.Content className="palette-box" aria-describedby={undefined} onKeyDown={press} {...focus}>
            <Radix.Title className="visually-hidden">Search or run a command</Radix.Title>
            <div className="palette-input">
              <Icon name="search" />
              <input
                className="grow"
                role="combobox"
                aria-expanded="true"
                aria-controls="palette-results"
                aria-autocomplete="list"
                aria-activedescendant={entries.length ? `palette-${chosen}` : undefined}
                aria-label="Search or run a command"
                placeholder={inside ? inside.name : "Search or run a command…"}
                value={text}
                onChange={(event) => {
                  setText(event.target.value);
                  open(null);
                }}
              />
              <kbd>Esc</kbd>
            </div>
            <p className="visually-hidden" role="status">
              {text && plural(entries.length, "result")}
            </p>
            <Results entries={entries} chosen={chosen} onPick={perform} />
            <div className="palette-foot" aria-hidden="true">
              <span>
                <kbd>↑</kbd>
                <kbd>↓</kbd>move
              </span>
              <span>
                <kbd>↵</kbd>select
              </span>
              <span>
                <kbd>→</kbd>more actions
              </span>
              <span className="push-end">
                <kbd>?</kbd>all shortcuts
              </span>
            </div>
          </Radix.Content>
        </Radix.Overlay>
      </Radix.Portal>
    </Radix.Root>
  );
}

interface ResultsProps {
  entries: PaletteEntry[];
  chosen: number;
  onPick: (entry: PaletteEntry) => void;
}

function Results({ entries, chosen, onPick }: ResultsProps) {
  const groups = [...new Set(entries.map((entry) => entry.group))];
  return (
    <div role="listbox" aria-label="Results" id="palette-results" className="results">
      {entries.length === 0 && <p className="muted palette-empty">No results.</p>}
      {groups.map((group) => (
        <div key={group} role="group" aria-label={group}>
          <div className="group-label">{group}</div>
          <ul role="presentation">
            {entries.map((entry, at) =>
              entry.group !== group ? null : (
                <li
                  key={at}
                  id={`palette-${at}`}
                  role="option"
                  aria-selected={at === chosen}
                  className={at === chosen ? "selected" : ""}
                  ref={at === chosen ? (node) => node?.scrollIntoView({ block: "nearest" }) : undefined}
                  onClick={() => onPick(entry)}
                >
                  {entry.shape ? <Glyph shape={entry.shape} /> : <Icon name={entry.icon ?? "right"} />}
                  <span className="medium ellipsis">{entry.name}</span>
                  <span className="muted ellipsis grow">{entry.about}</span>
                  {at === chosen ? <kbd>↵</kbd> : entry.keys && <kbd>{entry.keys}</kbd>}
                </li>
              ),
            )}
          </ul>
        </div>
      ))}
    </div>
  );
}

function atEnd(target: EventTarget): boolean {
  return !(target instanceof HTMLInputElement) || target.selectionStart === target.value.length;
}

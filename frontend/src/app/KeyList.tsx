/** The dialog "Keyboard shortcuts": the list of all keys and what they do. The keys themselves are in `keys.ts`,
 * `shellKeys.ts` and the pages. */

import { Dialog } from "../ui/Dialog";
import { MOD, MOD_ENTER } from "../ui/platform";
import { PLACES } from "./places";

type Key = readonly [keys: string, what: string];

const GROUPS: readonly { title: string; keys: readonly Key[] }[] = [
  {
    title: "Everywhere",
    keys: [
      [`${MOD} K`, "Search or run a command"],
      ...PLACES.map((place): Key => [`g ${place.key}`, place.title]),
      ["/", "Search this page"],
      ["j k or arrows", "Move through a list"],
      ["Enter", "Open"],
      [".", "Actions for a row"],
      ["!", "Go to the oldest item that needs you"],
      ["]", "Show or hide the side panel"],
      ["Esc", "Close, or stop a chat"],
      ["?", "Keyboard shortcuts"],
    ],
  },
  {
    title: "Chat",
    keys: [
      ["↑", "In an empty field, edit your last message"],
      ["o r c", "On a call: open, run again, copy"],
      ["A D", "On an approval: allow, deny"],
    ],
  },
  {
    title: "Servers",
    keys: [
      ["a", "Add a server"],
      ["t x l", "On a row: test, on or off, log"],
    ],
  },
  {
    title: "Tools",
    keys: [
      ["↓", "From the search field to the list"],
      ["p b", "On a row: always on, turn off"],
      [MOD_ENTER, "Run"],
    ],
  },
  {
    title: "Workflows",
    keys: [
      ["l", "Canvas or list"],
      ["n", "Add a step"],
      ["Arrows", "Move along the steps"],
      ["f", "Show the whole canvas"],
      ["Delete", "Delete the selected steps"],
      [`${MOD} Z`, "Undo"],
      [`${MOD} S`, "Save"],
      [`${MOD} C V D`, "Copy, paste, duplicate steps"],
    ],
  },
];

/** All keys at once. */
export function KeyList({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <div className="key-list">
        {GROUPS.map((group) => (
          <section key={group.title} aria-label={group.title}>
            <h3 className="key-group">{group.title}</h3>
            <dl className="key-table">
              {group.keys.map(([keys, what]) => (
                <div className="contents" key={keys}>
                  <dt className="muted">{keys}</dt>
                  <dd>{what}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
        <p className="muted text-small space-above-16">
          Single-key shortcuts work outside text fields. Turn them off in Settings, under Appearance.
        </p>
      </div>
    </Dialog>
  );
}

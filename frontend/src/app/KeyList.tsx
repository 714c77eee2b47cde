import { Dialog } from "../ui/Dialog";
import { MOD, MOD_ENTER } from "../ui/platform";
import { PLACES } from "./places";

type Key = readonly [keys: string, what: string];

const GROUPS: readonly { title: string; keys: readonly Key[] }[] = [
  {
    title: "Everywhere",
    keys: [
      [`${MOD} K`, "Go to or do anything"],
      ...PLACES.map((place): Key => [`g ${place.key}`, place.title]),
      ["/", "Search this page"],
      ["j k or arrows", "Move in a list"],
      ["Enter", "Open"],
      [".", "What can be done with a row"],
      ["!", "The oldest thing that needs you"],
      ["]", "The panel on the right"],
      ["Esc", "Close; in the chat, stop"],
      ["?", "These keys"],
    ],
  },
  { title: "Chat", keys: [["↑", "In an empty field, edit the last question"], ["o r c", "On a call: open, run again, copy"], ["A D", "In a question: allow, deny"]] },
  { title: "Servers", keys: [["a", "Add a server"], ["t x l", "On a row: test, on or off, log"]] },
  { title: "Tools", keys: [["↓", "From the field into the list"], ["p b", "On a row: always on, off"], [MOD_ENTER, "Run it"]] },
];

/** All keys at once. */
export function KeyList({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <div style={{ padding: "4px 14px 16px" }}>
        {GROUPS.map((group) => (
          <section key={group.title} aria-label={group.title}>
            <h3 style={{ margin: "14px 0 8px" }}>{group.title}</h3>
            <dl style={{ display: "grid", gridTemplateColumns: "140px 1fr", gap: "6px 16px" }}>
              {group.keys.map(([keys, what]) => (
                <div key={keys} style={{ display: "contents" }}>
                  <dt className="m">{keys}</dt>
                  <dd>{what}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
        <p className="m t12" style={{ marginTop: 16 }}>
          Keys of one letter work outside fields. They can be turned off in Settings, Appearance.
        </p>
      </div>
    </Dialog>
  );
}

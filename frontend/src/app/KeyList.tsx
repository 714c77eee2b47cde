import { Dialog } from "../ui/Dialog";
import { PLACES } from "./places";

const KEYS: readonly [string, string][] = [
  ["⌘ K or Ctrl K", "Go to or do anything"],
  ...PLACES.map((place): [string, string] => [`g ${place.key}`, place.title]),
  ["/", "Search this page"],
  ["j k or arrows", "Move in a list"],
  ["Enter", "Open"],
  [".", "What can be done with a row"],
  ["!", "The oldest thing that needs you"],
  ["[ ]", "Panels"],
  ["Esc", "Close; in the chat, stop"],
  ["?", "These keys"],
];

/** All keys at once. */
export function KeyList({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl style={{ display: "grid", gridTemplateColumns: "140px 1fr", gap: "8px 16px", padding: "16px 14px 20px" }}>
        {KEYS.map(([keys, what]) => (
          <div key={keys} style={{ display: "contents" }}>
            <dt className="m">{keys}</dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <p className="m t12" style={{ padding: "0 14px 16px" }}>
        Keys of one letter work outside fields. They can be turned off in Settings, Appearance.
      </p>
    </Dialog>
  );
}

/** Text files of a message before it is sent: chips with name, size and a button to remove them. */

import { bytes } from "../../ui/amounts";
import { Icon } from "../../ui/Icon";
import type { AttachedText } from "./attachments";
import { TEXT } from "./text";

export function AttachedFiles({ files, onRemove }: { files: readonly AttachedText[]; onRemove: (id: number) => void }) {
  if (files.length === 0) return null;
  return (
    <ul className="attachments" aria-label={TEXT.attachedFiles}>
      {files.map((one) => (
        <li key={one.id} className="file-chip">
          <Icon name="file" small />
          <span className="ellipsis" title={one.name} dir="auto">
            {one.name}
          </span>
          <span className="muted text-small num">{bytes(one.bytes)}</span>
          <button
            type="button"
            className="btn bare small icon-only"
            aria-label={TEXT.takeFileAway(one.name)}
            onClick={() => onRemove(one.id)}
          >
            <Icon name="close" small />
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Pictures attached to a message, before it is sent: small previews with their size and a button to remove them. */

import { bytes } from "../../ui/amounts";
import { Icon } from "../../ui/Icon";
import type { Attached } from "./attachments";
import { TEXT } from "./text";

/** What goes with the question, small, with what was done to it. */
export function AttachedPictures({
  images,
  onRemove,
}: {
  images: readonly Attached[];
  onRemove: (id: number) => void;
}) {
  if (images.length === 0) return null;
  return (
    <ul className="attachments">
      {images.map((one) => (
        <li key={one.id}>
          <img src={`data:${one.mime};base64,${one.data}`} alt="Attached picture" width={56} height={56} />
          <span className="muted text-small">
            {one.after < one.before ? TEXT.pictureMade(bytes(one.before), bytes(one.after)) : bytes(one.before)}
          </span>
          <button
            type="button"
            className="btn bare small icon-only"
            aria-label={TEXT.takeAway}
            onClick={() => onRemove(one.id)}
          >
            <Icon name="close" small />
          </button>
        </li>
      ))}
    </ul>
  );
}

import { bytes } from "../../ui/amounts";
import { Icon } from "../../ui/Icon";
import type { Attached } from "./smaller";
import { WORDS } from "./words";

/** What goes with the question, small, with what was done to it. */
export function AttachedPictures({ images, onRemove }: { images: readonly Attached[]; onRemove: (id: number) => void }) {
  if (images.length === 0) return null;
  return (
    <ul className="att">
      {images.map((one) => (
        <li key={one.id}>
          <img src={`data:${one.mime};base64,${one.data}`} alt="Attached picture" width={56} height={56} />
          <span className="m t12">{one.after < one.before ? WORDS.pictureMade(bytes(one.before), bytes(one.after)) : bytes(one.before)}</span>
          <button type="button" className="btn bare sm ic" aria-label={WORDS.takeAway} onClick={() => onRemove(one.id)}>
            <Icon name="close" small />
          </button>
        </li>
      ))}
    </ul>
  );
}

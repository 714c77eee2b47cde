/** The preview of a desktop action: the window as a picture, with the element that would be used marked. */

import type { CallExhibit } from "../../api/types";
import { reveal } from "../hidden";
import { Line } from "./Fields";
import { OutgoingText } from "./OutgoingText";
import { SCREEN_TEXTS, TEXT } from "./text";

/** Small enough for a question to be in view at once, with the picture. */
const TALLEST = "min(16vh, 300px)";

/** The window that a call would act on, with the part that it would use. */
export function ScreenPreview({ screen }: { screen: CallExhibit }) {
  return (
    <div className="outgoing" role="group" aria-label={TEXT.screen}>
      <dl>
        <Line name={TEXT.window} value={screen.title} strong />
        <Line name={TEXT.application} value={screen.application} />
        <Line name={TEXT.element} value={screen.element} />
      </dl>
      <Shot screen={screen} />
      {screen.text && <OutgoingText text={screen.text} label={SCREEN_TEXTS[screen.action ?? ""] ?? TEXT.screenText} />}
    </div>
  );
}

function Shot({ screen: { picture, width, height, target, title } }: { screen: CallExhibit }) {
  if (!picture || !width || !height) return null;
  const part = (value: number, whole: number) => `${(100 * value) / whole}%`;
  return (
    <div className="screen-shot">
      <div
        className="screen-frame"
        style={{ aspectRatio: `${width} / ${height}`, maxWidth: `min(${width}px, ${TALLEST} * ${width / height})` }}
      >
        <img
          src={`data:image/jpeg;base64,${picture}`}
          width={width}
          height={height}
          alt={TEXT.screenOf(reveal(title ?? ""))}
        />
        {target && (
          <i
            className="screen-target"
            style={{
              left: part(target.x, width),
              top: part(target.y, height),
              width: part(target.width, width),
              height: part(target.height, height),
            }}
          />
        )}
      </div>
    </div>
  );
}

/** The text of an email, event or message as it will be read, and from which length it is shown partly; every hidden
 * character is made visible. */

import { useState } from "react";

import { Exact } from "../Exact";
import { reveal } from "../hidden";
import { markMentions } from "./mentions";
import { lengthText, TEXT } from "./text";

const FEW_LINES = 14;
const FEW_CHARACTERS = 1200;

interface Props {
  text: string | undefined;
  label: string;
  mentions?: readonly string[];
}

export function OutgoingText({ text = "", label, mentions = [] }: Props) {
  const [whole, setWhole] = useState(false);
  const shown = text.replace(/\r\n/g, "\n");
  const lines = shown.split("\n").length;
  const long = lines > FEW_LINES || shown.length > FEW_CHARACTERS;
  if (!shown) return <p className="muted outgoing-empty">{TEXT.noText}</p>;
  return (
    <>
      <div
        className={long && !whole ? "outgoing-text partial" : "outgoing-text"}
        role="region"
        aria-label={label}
        tabIndex={0} // It scrolls, also from the keyboard.
        dir="auto"
      >
        {markMentions(shown, mentions).map((piece, index) =>
          piece.mention ? <mark key={index}>{reveal(piece.text)}</mark> : <Exact key={index} text={piece.text} />,
        )}
      </div>
      {long && (
        <p className="outgoing-length muted text-small">
          {lengthText(lines, shown.length)}{" "}
          <button
            type="button"
            className="plain-button link-button"
            aria-expanded={whole}
            onClick={() => setWhole(!whole)}
          >
            {whole ? TEXT.showLess : TEXT.showAll}
          </button>
        </p>
      )}
    </>
  );
}

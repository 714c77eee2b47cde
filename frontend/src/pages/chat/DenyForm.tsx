/** The optional note to the model when a call is denied; Enter sends it, Esc goes back. */

import { useId, useState, type KeyboardEvent } from "react";

import { TEXT } from "./text";

/** No, with a word to the model; Enter sends it, Esc goes back. */
export function DenyForm({
  busy,
  onBack,
  onDeny,
}: {
  busy: boolean;
  onBack: () => void;
  onDeny: (message: string) => void;
}) {
  const [word, setWord] = useState("");
  const id = useId();
  function keys(event: KeyboardEvent) {
    if (event.key === "Escape") onBack();
    else if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) onDeny(word);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
  return (
    <>
      <label htmlFor={id} className="visually-hidden">
        {TEXT.denyNote}
      </label>
      <textarea
        dir="auto"
        id={id}
        className="deny-note"
        autoFocus
        rows={2}
        placeholder={TEXT.denyNote}
        value={word}
        onChange={(event) => setWord(event.target.value)}
        onKeyDown={keys}
      />
      <div className="actions">
        <button type="button" className="btn primary" disabled={busy} onClick={() => onDeny(word)}>
          {TEXT.denySend} <kbd>↵</kbd>
        </button>
        <button type="button" className="btn" onClick={onBack}>
          {TEXT.back} <kbd>Esc</kbd>
        </button>
      </div>
    </>
  );
}

import { useId, useState, type KeyboardEvent } from "react";

import { WORDS } from "./words";

/** No, with a word to the model; Enter sends it, Esc goes back. */
export function DenyForm({ busy, onBack, onDeny }: { busy: boolean; onBack: () => void; onDeny: (message: string) => void }) {
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
      <label htmlFor={id} className="sr">{WORDS.denyWord}</label>
      <textarea
        dir="auto"
        id={id}
        className="wd"
        autoFocus
        rows={2}
        placeholder={WORDS.denyWord}
        value={word}
        onChange={(event) => setWord(event.target.value)}
        onKeyDown={keys}
      />
      <div className="acts">
        <button type="button" className="btn pri" disabled={busy} onClick={() => onDeny(word)}>
          {WORDS.denySend} <kbd>↵</kbd>
        </button>
        <button type="button" className="btn" onClick={onBack}>
          {WORDS.back} <kbd>Esc</kbd>
        </button>
      </div>
    </>
  );
}

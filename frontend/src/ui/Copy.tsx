/** The Copy button: how long it says "Copied". Its width does not change. */

import { useState } from "react";

import { Icon } from "./Icon";

interface Props {
  /** The text, or what makes it when it is wanted. */
  text: string | (() => string);
  label?: string;
  bare?: boolean;
  icon?: boolean;
  /** The drawing alone; the label is for those who hear it. */
  only?: boolean;
}

/** Copies a text; the word changes for a moment, the width does not. */
export function Copy({ text, label = "Copy", bare = false, icon = true, only = false }: Props) {
  const [done, setDone] = useState(false);
  async function copy() {
    await navigator.clipboard.writeText(typeof text === "string" ? text : text());
    setDone(true);
    setTimeout(() => setDone(false), 1500);
  }
  if (only) {
    return (
      <button type="button" className="btn bare small icon-only" aria-label={label} onClick={() => void copy()}>
        <Icon name={done ? "tick" : "copy"} small />
        <span className="visually-hidden" aria-live="polite">
          {done ? "Copied" : ""}
        </span>
      </button>
    );
  }
  return (
    // Named outright: a dialog hides all of the page but what tells news, which would be half of this button.
    <button
      type="button"
      className={bare ? "btn bare small" : "btn small"}
      aria-label={label}
      onClick={() => void copy()}
    >
      {icon && <Icon name="copy" small />}
      <span className="swap-label">
        <span className={done ? "invisible" : ""}>{label}</span>
        <span className={done ? "" : "invisible"} aria-live="polite">
          {done ? "Copied" : ""}
        </span>
      </span>
    </button>
  );
}

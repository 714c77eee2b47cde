/** The choice of the approval mode, and the question before approvals are turned off. What each mode says is in
 * `text.ts`. */

import { RadioGroup } from "radix-ui";
import { useState, type ReactNode } from "react";

import { sentence } from "../../api/errors";
import { Dialog } from "../../ui/Dialog";
import { save } from "./saveSetting";
import { MODES, TEXT } from "./text";

/** The approval mode; turning approvals off needs a confirmation. */
export function ModeSection({ mode, children }: { mode: string; children: ReactNode }) {
  const [sure, setSure] = useState(false);
  const [wrong, setWrong] = useState("");
  function put(next: string) {
    setWrong("");
    save("approvals.mode", "Mode", next).catch((error: unknown) => setWrong(sentence(error)));
  }
  function choose(next: string) {
    if (next === "off" && mode !== "off") setSure(true);
    else put(next);
  }
  return (
    <section className="settings-section" id="asking">
      <h2>Approvals</h2>
      <p>{TEXT.asking}</p>
      <RadioGroup.Root className="panel mode-list" aria-label="Mode" value={mode} onValueChange={choose}>
        {MODES.map((one) => (
          <div key={one.value} className={one.value === mode ? "mode-row selected" : "mode-row"}>
            <RadioGroup.Item
              className={one.value === mode ? "radio selected" : "radio"}
              value={one.value}
              id={`mode-${one.value}`}
              aria-describedby={`mode-${one.value}-about`}
            />
            <label htmlFor={`mode-${one.value}`}>
              <b className="medium">{one.name}</b>
            </label>
            <p id={`mode-${one.value}-about`}>{one.about}</p>
          </div>
        ))}
      </RadioGroup.Root>
      {wrong && (
        <p className="text-small error-text space-above-8" role="alert">
          {wrong}
        </p>
      )}
      <p className="muted text-small mode-note">{TEXT.session}</p>
      {children}
      {sure && (
        <Dialog title="Turn off approvals?" onClose={() => setSure(false)}>
          <div className="dialog-body">
            <p className="secondary">{TEXT.offAsks}</p>
            <div className="row align-end space-above-16">
              <button type="button" className="btn primary" onClick={() => setSure(false)}>
                Keep approvals
              </button>
              <button
                type="button"
                className="btn"
                onClick={() => {
                  setSure(false);
                  put("off");
                }}
              >
                Turn off
              </button>
            </div>
          </div>
        </Dialog>
      )}
    </section>
  );
}

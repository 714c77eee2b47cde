/** Asks for the name of a model to test, for a vendor that has a key but lists no models. */

import { useState, type FormEvent } from "react";

import { Dialog } from "../../ui/Dialog";
import { MODELS } from "./text";

/** Asks for a model name of a vendor that has a key. */
export function ModelNameDialog({
  vendor,
  onClose,
  onModel,
}: {
  vendor: string;
  onClose: () => void;
  onModel: (model: string) => void;
}) {
  const [model, setModel] = useState("");
  function done(event: FormEvent) {
    event.preventDefault();
    onModel(model.trim());
  }
  return (
    <Dialog title={MODELS.which(vendor)} onClose={onClose}>
      <form className="dialog-form" onSubmit={done}>
        <p className="secondary">{MODELS.whichAbout}</p>
        <label>
          <span className="muted text-small">{MODELS.whichLabel}</span>
          <span className="field">
            <input
              value={model}
              required
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => setModel(event.target.value)}
            />
          </span>
        </label>
        <div className="row align-end">
          <button type="button" className="btn" onClick={onClose}>
            {MODELS.cancel}
          </button>
          <button type="submit" className="btn primary" disabled={!model.trim()}>
            {MODELS.ask}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

import { useState, type FormEvent } from "react";

import { Dialog } from "../../ui/Dialog";
import { MODELS } from "./words";

/** A vendor has a key, but nobody has named a model of it yet. */
export function WhichModel({ vendor, onClose, onModel }: { vendor: string; onClose: () => void; onModel: (model: string) => void }) {
  const [model, setModel] = useState("");
  function done(event: FormEvent) {
    event.preventDefault();
    onModel(model.trim());
  }
  return (
    <Dialog title={MODELS.which(vendor)} onClose={onClose}>
      <form style={{ display: "grid", gap: 14, padding: "14px 14px 18px" }} onSubmit={done}>
        <p className="q">{MODELS.whichAbout}</p>
        <label>
          <span className="m t12">{MODELS.whichLabel}</span>
          <span className="field">
            <input value={model} required autoComplete="off" spellCheck={false} onChange={(event) => setModel(event.target.value)} />
          </span>
        </label>
        <div className="row" style={{ justifyContent: "flex-end" }}>
          <button type="button" className="btn" onClick={onClose}>{MODELS.cancel}</button>
          <button type="submit" className="btn pri" disabled={!model.trim()}>{MODELS.ask}</button>
        </div>
      </form>
    </Dialog>
  );
}

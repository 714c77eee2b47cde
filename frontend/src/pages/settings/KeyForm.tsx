/** The form that adds a vendor's API key: it is tested with the model before it is stored; text of a rejected key. */

import { useState, type FormEvent } from "react";

import { run } from "../../api/client";
import { ApiError, sentence } from "../../api/errors";
import { queries } from "../../api/hooks";
import type { Vendor } from "../../api/types";
import { duration } from "../../ui/amounts";
import { Dialog } from "../../ui/Dialog";
import { Status } from "../../ui/Status";

interface Props {
  vendors: readonly Vendor[];
  /** Whose key it is, where that is known. */
  vendor?: string;
  onClose: () => void;
  onModel: (model: string) => void;
}

type Tried = { state: "idle" | "asking" } | { state: "works"; ms: number } | { state: "refused"; why: string };

/** A key, tried out with one word before it is stored. */
export function KeyForm({ vendors, vendor: given, onClose, onModel }: Props) {
  const known = vendors.filter((vendor) => vendor.keys.length > 0 && vendor.vendor !== "ollama");
  const [vendor, setVendor] = useState(given ?? known[0]?.vendor ?? "");
  const [model, setModel] = useState("");
  const [key, setKey] = useState("");
  const [tried, setTried] = useState<Tried>({ state: "idle" });
  const keyName = known.find((one) => one.vendor === vendor)?.keys[0] ?? "";
  const name = `${vendor}:${model.trim()}`;

  async function attempt(event: FormEvent) {
    event.preventDefault();
    setTried({ state: "asking" });
    try {
      const answer = await run("model_try", { model: name, key_name: keyName, key });
      await run("secret_set", { name: keyName, value: key });
      setTried({ state: "works", ms: answer.ms });
      onModel(name);
      void queries.invalidateQueries({ queryKey: ["models"] });
    } catch (error) {
      setTried({ state: "refused", why: refusal(error) });
    }
  }

  return (
    <Dialog title="Add a key" onClose={onClose}>
      <form className="dialog-form" onSubmit={(event) => void attempt(event)}>
        <label>
          <span className="muted text-small">Vendor</span>
          <span className="field">
            <select className="plain-select" value={vendor} onChange={(event) => setVendor(event.target.value)}>
              {known.map((one) => (
                <option key={one.vendor} value={one.vendor}>
                  {one.title}
                </option>
              ))}
            </select>
          </span>
        </label>
        <label>
          <span className="muted text-small">Model name</span>
          <span className="field">
            <input
              {...(given && { "data-first": true })}
              value={model}
              required
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => setModel(event.target.value)}
            />
          </span>
        </label>
        <label>
          <span className="muted text-small">{keyName}; it goes to the keyring</span>
          <span className="field">
            <input
              type="password"
              value={key}
              required
              autoComplete="off"
              onChange={(event) => setKey(event.target.value)}
            />
          </span>
        </label>
        <div className="one-line" role="status">
          {tried.state === "asking" && <Status shape="work" word="Testing…" />}
          {tried.state === "works" && <Status shape="done" word={`Works, ${duration(tried.ms)}`} />}
          {tried.state === "refused" && <span className="status fail wrap-text">{tried.why}</span>}
        </div>
        <div className="row align-end">
          <button type="button" className="btn" onClick={onClose}>
            {tried.state === "works" ? "Done" : "Cancel"}
          </button>
          <button type="submit" className="btn primary" disabled={!key || !model.trim() || tried.state === "asking"}>
            Test and save
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function refusal(error: unknown): string {
  if (error instanceof ApiError && error.kind === "model_key") {
    return "Rejected (401). The key may be expired or belong to another account.";
  }
  return sentence(error);
}

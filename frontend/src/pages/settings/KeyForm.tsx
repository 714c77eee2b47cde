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
      <form style={{ display: "grid", gap: 14, padding: "14px 14px 18px" }} onSubmit={(event) => void attempt(event)}>
        <label>
          <span className="m t12">Vendor</span>
          <span className="field">
            <select style={{ all: "unset", flex: 1 }} value={vendor} onChange={(event) => setVendor(event.target.value)}>
              {known.map((one) => (
                <option key={one.vendor} value={one.vendor}>
                  {one.title}
                </option>
              ))}
            </select>
          </span>
        </label>
        <label>
          <span className="m t12">Model, as the vendor calls it</span>
          <span className="field">
            <input value={model} required autoComplete="off" spellCheck={false} onChange={(event) => setModel(event.target.value)} />
          </span>
        </label>
        <label>
          <span className="m t12">{keyName}; it goes to the keyring</span>
          <span className="field">
            <input type="password" value={key} required autoComplete="off" onChange={(event) => setKey(event.target.value)} />
          </span>
        </label>
        <div style={{ minHeight: 20 }} role="status">
          {tried.state === "asking" && <Status shape="work" word="Asking for one word…" />}
          {tried.state === "works" && <Status shape="done" word={`Works, ${duration(tried.ms)}`} />}
          {tried.state === "refused" && <span className="st fail" style={{ whiteSpace: "normal" }}>{tried.why}</span>}
        </div>
        <div className="row" style={{ justifyContent: "flex-end" }}>
          <button type="button" className="btn" onClick={onClose}>
            {tried.state === "works" ? "Done" : "Cancel"}
          </button>
          <button type="submit" className="btn pri" disabled={!key || !model.trim() || tried.state === "asking"}>
            Try and store
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function refusal(error: unknown): string {
  if (error instanceof ApiError && error.kind === "model_key") {
    return "Refused (401). The key may be old or of another account.";
  }
  return sentence(error);
}

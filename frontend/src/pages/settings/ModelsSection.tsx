/** The section Models: vendors with their keys and states, Test, "Add key". Order and texts are in `vendors.ts`. */

import { useState, type ReactNode } from "react";

import { run } from "../../api/client";
import { queries, useOperation } from "../../api/hooks";
import type { Vendor } from "../../api/types";
import { Status } from "../../ui/Status";
import { KeyForm } from "./KeyForm";
import { save } from "./saveSetting";
import { about, couldHaveKey, inOrder, LOCAL, modelOf, needsKey, ownRows, stateOf } from "./vendors";
import { ModelNameDialog } from "./ModelNameDialog";
import { MODELS, TEXT } from "./text";

/** Who can be asked, where each key is, and whether it works. */
export function ModelsSection({ children }: { children: ReactNode }) {
  const { data } = useOperation("models", {});
  const [adding, setAdding] = useState<string | null>(null);
  const chosen = data?.model ?? null;
  const rows = inOrder(ownRows(data?.vendors ?? []));
  return (
    <section className="settings-section" id="models">
      <h2>Models</h2>
      <p>{TEXT.models}</p>
      {rows.map((vendor) => (
        <VendorRow key={vendor.vendor} vendor={vendor} chosen={chosen} onKey={() => setAdding(vendor.vendor)} />
      ))}
      {children}
      {adding && data && (
        <KeyForm
          vendors={data.vendors}
          vendor={adding}
          onClose={() => setAdding(null)}
          onModel={(model) => {
            if (!chosen) void save("agent.model", "Model", model);
          }}
        />
      )}
    </section>
  );
}

function VendorRow({ vendor, chosen, onKey }: { vendor: Vendor; chosen: string | null; onKey: () => void }) {
  const [asking, setAsking] = useState(false);
  const [naming, setNaming] = useState(false);
  const model = modelOf(vendor, chosen);
  async function test(name: string) {
    setAsking(true);
    // The host remembers the outcome, and the row shows it from then on.
    await run("model_try", { model: name }).catch(() => null);
    await queries.invalidateQueries({ queryKey: ["models"] });
    setAsking(false);
  }
  async function look() {
    setAsking(true);
    await queries.invalidateQueries({ queryKey: ["models"] });
    setAsking(false);
  }
  function press() {
    if (vendor.vendor === LOCAL && !vendor.ready) void look();
    else if (model) void test(model);
    else setNaming(true);
  }
  const state = stateOf(vendor, asking);
  const wantsKey = needsKey(vendor) || (vendor.tried?.refused === true && vendor.keys.length > 0);
  return (
    <div className="setting-row" data-vendor={vendor.vendor}>
      <b className="medium">{vendor.vendor}</b>
      <p>{about(vendor)}</p>
      <span className="setting-control">
        <span className="text-small" aria-live="polite">
          <Status shape={state.shape} word={state.word} />
        </span>
        {(wantsKey || couldHaveKey(vendor)) && (
          <button type="button" className="btn small" onClick={onKey}>
            {vendor.key ? MODELS.replaceKey : MODELS.addKey}
          </button>
        )}
        {!wantsKey && (
          <button type="button" className="btn small" disabled={asking} onClick={press}>
            {MODELS.test}
          </button>
        )}
      </span>
      {naming && (
        <ModelNameDialog
          vendor={vendor.vendor}
          onClose={() => setNaming(false)}
          onModel={(name) => {
            setNaming(false);
            void test(`${vendor.vendor}:${name}`);
          }}
        />
      )}
    </div>
  );
}

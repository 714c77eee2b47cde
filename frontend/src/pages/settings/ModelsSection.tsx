/** The section Models: vendors with their keys, addresses, and model servers found on this computer; Test, Add, Edit and
 * Remove. Order and texts are in `vendors.ts`. */

import { useState, type ReactNode } from "react";

import { run } from "../../api/client";
import { sentence } from "../../api/errors";
import { queries, useAction, useOperation } from "../../api/hooks";
import type { LocalServer, Vendor } from "../../api/types";
import { notify } from "../../app/notices";
import { plural } from "../../ui/amounts";
import { Dialog } from "../../ui/Dialog";
import { Icon } from "../../ui/Icon";
import { Menu } from "../../ui/Menu";
import { Status } from "../../ui/Status";
import { ChooseModel } from "../models/ChooseModel";
import { ConnectForm } from "../models/ConnectForm";
import { refreshModels } from "../models/refreshModels";
import { useFoundServer } from "../models/useFoundServer";
import { about, couldHaveKey, inOrder, LOCAL, modelOf, needsKey, stateOf } from "./vendors";
import { MODELS, TEXT } from "./text";

type Open = { what: "add" } | { what: "key" | "edit" | "remove"; vendor: Vendor };

/** Who can be asked, where each key is, and whether it works. */
export function ModelsSection({ children }: { children: ReactNode }) {
  const { data } = useOperation("models", {});
  const { data: local } = useOperation("local_models", {});
  const place = useOperation("secret_place", {}).data?.place;
  const [open, setOpen] = useState<Open | null>(null);
  const chosen = data?.model ?? null;
  const vendors = data?.vendors ?? [];
  const close = () => setOpen(null);
  return (
    <section className="settings-section" id="models">
      <h2>Models</h2>
      <p>{TEXT.models(place ?? "keyring")}</p>
      {children}
      {inOrder(vendors).map((vendor) => (
        <VendorRow key={vendor.vendor} vendor={vendor} chosen={chosen} onOpen={(what) => setOpen({ what, vendor })} />
      ))}
      {local?.map((server) => (
        <FoundRow key={server.address} server={server} />
      ))}
      <button type="button" className="btn bare small space-above-8" onClick={() => setOpen({ what: "add" })}>
        <Icon name="plus" small />
        {MODELS.add}
      </button>
      {open?.what === "add" && <ConnectForm onClose={close} />}
      {open?.what === "key" && <ConnectForm vendor={open.vendor.vendor} onClose={close} />}
      {open?.what === "edit" && <ConnectForm endpoint={open.vendor} onClose={close} />}
      {open?.what === "remove" && <Removal name={open.vendor.vendor} chosen={chosen} onClose={close} />}
    </section>
  );
}

interface RowProps {
  vendor: Vendor;
  chosen: string | null;
  onOpen: (what: "key" | "edit" | "remove") => void;
}

function VendorRow({ vendor, chosen, onOpen }: RowProps) {
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
  const wantsKey = !vendor.protocol && (needsKey(vendor) || (vendor.tried?.refused === true && vendor.keys.length > 0));
  return (
    <div className="setting-row" data-vendor={vendor.vendor}>
      <b className="medium">{vendor.title}</b>
      <p>{about(vendor)}</p>
      <span className="setting-control">
        <span className="text-small" aria-live="polite">
          <Status shape={state.shape} word={state.word} />
        </span>
        {(wantsKey || (!vendor.protocol && couldHaveKey(vendor))) && (
          <button type="button" className="btn small" onClick={() => onOpen("key")}>
            {vendor.key ? MODELS.replaceKey : MODELS.addKey}
          </button>
        )}
        {!wantsKey && (
          <button type="button" className="btn small" disabled={asking} onClick={press}>
            {MODELS.test}
          </button>
        )}
        {vendor.protocol && (
          <Menu
            trigger={
              <button type="button" className="btn bare small icon-only" aria-label={MODELS.more(vendor.title)}>
                <Icon name="dots" small />
              </button>
            }
            entries={[
              { name: MODELS.edit, onSelect: () => onOpen("edit") },
              { name: MODELS.remove, danger: true, apart: true, onSelect: () => onOpen("remove") },
            ]}
          />
        )}
      </span>
      {naming && (
        <ChooseModel
          title={MODELS.which(vendor.title)}
          about={MODELS.whichAbout}
          action={MODELS.test}
          vendor={vendor}
          onClose={() => setNaming(false)}
          onModel={(name) => void test(name)}
        />
      )}
    </div>
  );
}

/** A model server that listens on this computer and is not in the settings. */
function FoundRow({ server }: { server: LocalServer }) {
  const { asking, wrong, use } = useFoundServer(server);
  return (
    <div className="setting-row" data-found={server.name}>
      <b className="medium">{server.title}</b>
      <p>
        {MODELS.foundAt(server.address, plural(server.models.length, "model"))}
        {wrong && (
          <span className="status fail" role="alert">
            {" "}
            {wrong}
          </span>
        )}
      </p>
      <span className="setting-control">
        <span className="text-small" aria-live="polite">
          <Status shape={asking ? "work" : "wait"} word={asking ? MODELS.asking : MODELS.found} />
        </span>
        <button type="button" className="btn small" disabled={asking} onClick={() => void use()}>
          {MODELS.use}
        </button>
      </span>
    </div>
  );
}

function Removal({ name, chosen, onClose }: { name: string; chosen: string | null; onClose: () => void }) {
  const removal = useAction("model_disconnect");
  function remove() {
    removal.mutate(
      { name },
      {
        onSuccess: () => {
          notify(MODELS.removed(name));
          void refreshModels();
          onClose();
        },
      },
    );
  }
  return (
    <Dialog title={MODELS.removal(name)} onClose={onClose}>
      <div className="dialog-body">
        <p className="secondary">
          {MODELS.removalAbout}
          {chosen?.startsWith(`${name}:`) && MODELS.removalDefault}
        </p>
        {removal.error && (
          <p className="text-small error-text" role="alert">
            {sentence(removal.error)}
          </p>
        )}
        <div className="row align-end space-above-16">
          <button type="button" className="btn" onClick={onClose}>
            {MODELS.keep}
          </button>
          <button type="button" className="btn danger" onClick={remove}>
            {MODELS.removeNow}
          </button>
        </div>
      </div>
    </Dialog>
  );
}

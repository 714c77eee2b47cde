/** The form that connects models: a vendor by its API key, or an address of one's own. It is tested as it is saved, and
 * nothing is stored if it does not answer. */

import { useRef, useState, type FormEvent } from "react";

import { run } from "../../api/client";
import { ApiError, sentence } from "../../api/errors";
import { useOperation } from "../../api/hooks";
import type { ModelConnected, ModelList, NewModelSource, Vendor } from "../../api/types";
import { duration } from "../../ui/amounts";
import { Dialog } from "../../ui/Dialog";
import { Icon } from "../../ui/Icon";
import { Loading } from "../../ui/Loading";
import { Status } from "../../ui/Status";
import { optionsOf } from "./listing";
import { ModelField } from "./ModelField";
import { refreshModels } from "./refreshModels";
import { CHOOSE, CONNECT, PROTOCOLS } from "./text";

/** In place of a vendor: an address of one's own. */
export const OTHER = "";

interface Props {
  /** The vendor to begin with, or `OTHER`. */
  vendor?: string;
  /** An address in the settings, to change it. */
  endpoint?: Vendor;
  onClose: () => void;
  onModel?: (model: string) => void;
}

type Tried =
  { state: "idle" | "testing" } | { state: "works"; done: ModelConnected } | { state: "failed"; why: string };

/** Vendors that are reached with a key alone. */
export function keyedVendors(vendors: readonly Vendor[]): Vendor[] {
  return vendors.filter((one) => one.keys.length > 0 && !one.protocol && one.vendor !== "ollama");
}

/** What a form would store: a vendor's key, or an address. */
function useSource(vendors: readonly Vendor[], { vendor, endpoint }: Props) {
  const known = keyedVendors(vendors);
  const [chosen, setChosen] = useState(endpoint ? OTHER : (vendor ?? known[0]?.vendor ?? OTHER));
  const [name, setName] = useState(endpoint?.vendor ?? "");
  const [url, setUrl] = useState(endpoint?.address ?? "");
  const [protocol, setProtocol] = useState(endpoint?.protocol ?? PROTOCOLS[0].value);
  const [key, setKey] = useState("");
  const address = { vendor: name.trim(), url: url.trim(), protocol, replace: endpoint !== undefined };
  const source: NewModelSource = { api_key: key.trim(), ...(chosen === OTHER ? address : { vendor: chosen }) };
  const stored = endpoint ?? known.find((one) => one.vendor === chosen);
  return { known, chosen, setChosen, name, setName, url, setUrl, protocol, setProtocol, key, setKey, source, stored };
}

/** The list of a vendor or an address that is not stored yet; asked once for what the form holds. */
function useDraftList(source: NewModelSource, hasKey: boolean) {
  const [list, setList] = useState<ModelList | null>(null);
  const [loading, setLoading] = useState(false);
  const [wrong, setWrong] = useState("");
  const { url = "", protocol = "openai", api_key = "" } = source;
  const vendor = source.vendor || CONNECT.unnamed;
  const wanted = JSON.stringify([vendor, url, protocol, api_key]);
  const asked = useRef("");
  async function load() {
    if (asked.current === wanted || (!url && !source.vendor)) return;
    asked.current = wanted;
    setLoading(true);
    setWrong("");
    try {
      const found = await run("model_list", { vendor, url, protocol, api_key });
      if (asked.current === wanted) setList(found);
    } catch (error) {
      if (asked.current === wanted) setWrong(sentence(error));
    }
    if (asked.current === wanted) setLoading(false);
  }
  const unlisted = list?.listed === false ? (hasKey ? CHOOSE.unlisted(vendor, list.reason) : CONNECT.keyFirst) : "";
  const note = wrong || unlisted;
  return {
    load: () => void load(),
    options: asked.current === wanted ? optionsOf(list?.models ?? []) : [],
    notes: note && asked.current === wanted ? [note] : [],
    loading,
  };
}

export function ConnectForm(props: Props) {
  const { endpoint, onClose } = props;
  const { data } = useOperation("models", {});
  return (
    <Dialog title={endpoint ? CONNECT.edit(endpoint.vendor) : CONNECT.title} onClose={onClose}>
      {data ? <Fields vendors={data.vendors} {...props} /> : <Loading rows={3} />}
    </Dialog>
  );
}

function Fields({ vendors, ...props }: Props & { vendors: readonly Vendor[] }) {
  const { endpoint, onClose, onModel } = props;
  const form = useSource(vendors, props);
  const elsewhere = form.chosen === OTHER;
  const [model, setModel] = useState("");
  const [tried, setTried] = useState<Tried>({ state: "idle" });
  const { load, options, notes, loading } = useDraftList(
    form.source,
    elsewhere || form.key !== "" || Boolean(form.stored?.key),
  );
  const place = useOperation("secret_place", {}).data?.place;

  async function save(event: FormEvent) {
    event.preventDefault();
    if (tried.state === "testing") return;
    if (tried.state === "works") return onClose();
    setTried({ state: "testing" });
    try {
      const done = await run("model_connect", { ...form.source, model: model.trim() });
      setTried({ state: "works", done });
      onModel?.(done.model);
      void refreshModels();
    } catch (error) {
      setTried({ state: "failed", why: failure(error) });
    }
  }

  return (
    <form
      className="dialog-form"
      onSubmit={(event) => void save(event)}
      onChange={() => tried.state !== "testing" && setTried({ state: "idle" })}
    >
      {!endpoint && (
        <label>
          <span className="muted text-small">{CONNECT.vendor}</span>
          <span className="field">
            <select
              className="plain-select"
              value={form.chosen}
              onChange={(event) => {
                form.setChosen(event.target.value);
                setModel("");
              }}
            >
              {form.known.map((one) => (
                <option key={one.vendor} value={one.vendor}>
                  {one.title}
                </option>
              ))}
              <option value={OTHER}>{CONNECT.other}</option>
            </select>
            <Icon name="down" small />
          </span>
        </label>
      )}
      {elsewhere && <AddressFields form={form} isNew={!endpoint} />}
      <label>
        <span className="muted text-small">{elsewhere ? CONNECT.optionalKey(place) : CONNECT.key(place)}</span>
        <span className="field">
          <input
            {...(!elsewhere && props.vendor && { "data-first": true })}
            type="password"
            value={form.key}
            required={!elsewhere && !form.stored?.key}
            placeholder={form.stored?.key ? CONNECT.kept : ""}
            autoComplete="off"
            onChange={(event) => form.setKey(event.target.value)}
          />
        </span>
      </label>
      <ModelField
        label={CONNECT.model}
        placeholder={CONNECT.usual(elsewhere ? "" : (form.stored?.usual ?? ""))}
        value={model}
        {...{ options, notes, loading }}
        onOpen={load}
        onChange={setModel}
      />
      <Outcome tried={tried} local={elsewhere} />
      <div className="row align-end">
        {tried.state !== "works" && (
          <button type="button" className="btn" onClick={onClose}>
            {CONNECT.cancel}
          </button>
        )}
        <button type="submit" className="btn primary" aria-disabled={tried.state === "testing"}>
          {tried.state === "works" ? CONNECT.done : CONNECT.save}
        </button>
      </div>
    </form>
  );
}

function failure(error: unknown): string {
  return error instanceof ApiError && error.kind === "model_key" ? CONNECT.refused(error.message) : sentence(error);
}

function AddressFields({ form, isNew }: { form: ReturnType<typeof useSource>; isNew: boolean }) {
  return (
    <>
      {isNew && (
        <label>
          <span className="muted text-small">{CONNECT.name}</span>
          <span className="field">
            <input
              data-first
              value={form.name}
              required
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => form.setName(event.target.value)}
            />
          </span>
        </label>
      )}
      <label>
        <span className="muted text-small">{CONNECT.url}</span>
        <span className="field">
          <input
            {...(!isNew && { "data-first": true })}
            type="url"
            value={form.url}
            required
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => form.setUrl(event.target.value)}
          />
        </span>
      </label>
      <label>
        <span className="muted text-small">{CONNECT.protocol}</span>
        <span className="field">
          <select
            className="plain-select"
            value={form.protocol}
            onChange={(event) => form.setProtocol(event.target.value)}
          >
            {PROTOCOLS.map((one) => (
              <option key={one.value} value={one.value}>
                {one.name}
              </option>
            ))}
          </select>
          <Icon name="down" small />
        </span>
      </label>
    </>
  );
}

function Outcome({ tried, local }: { tried: Tried; local: boolean }) {
  return (
    <div className="one-line" role="status">
      {tried.state === "testing" && <Status shape="work" word={local ? CONNECT.patience : CONNECT.testing} />}
      {tried.state === "works" && (
        <span className="status ok wrap-text">
          {CONNECT.works(tried.done.model, duration(tried.done.ms))}
          {tried.done.default && CONNECT.default}
          {CONNECT.saved(tried.done.place)}
        </span>
      )}
      {tried.state === "failed" && <span className="status fail wrap-text">{tried.why}</span>}
    </div>
  );
}

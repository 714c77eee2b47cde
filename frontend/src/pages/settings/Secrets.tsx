import { useState, type FormEvent } from "react";

import { run } from "../../api/client";
import { sentence } from "../../api/errors";
import { queries, useOperation } from "../../api/hooks";
import type { SecretInfo, Vendor } from "../../api/types";
import { notify } from "../../app/notices";
import { plural } from "../../ui/amounts";
import { Dialog } from "../../ui/Dialog";
import { Icon } from "../../ui/Icon";
import { Status } from "../../ui/Status";
import { ownRows } from "./vendors";
import { WORDS } from "./words";

/** The names of secrets and who uses them. */
export function Secrets() {
  const { data } = useOperation("secret_list", {});
  const vendors = useOperation("models", {}).data?.vendors ?? [];
  const [edited, setEdited] = useState<string | null>(null);
  const [removed, setRemoved] = useState<SecretInfo | null>(null);
  return (
    <section className="sg" id="secrets">
      <h2>Secrets</h2>
      <p>{WORDS.secrets}</p>
      {data?.length === 0 && <p className="m">{WORDS.noSecrets}</p>}
      {data?.map((secret) => (
        <div key={secret.name} className="se">
          <b className="b mono">{secret.name}</b>
          <p>
            {usedBy(secret, vendors)}
            {secret.place ? ` · in the ${secret.place}` : ""}
          </p>
          <span className="v">
            {!secret.place && <Status shape="need" word="Not set" />}
            <button type="button" className="btn sm" onClick={() => setEdited(secret.name)}>{secret.place ? "Replace" : "Set"}</button>
            {secret.place && <button type="button" className="btn bare sm dang" onClick={() => setRemoved(secret)}>Delete…</button>}
          </span>
        </div>
      ))}
      <button type="button" className="btn bare sm" style={{ marginTop: 8 }} onClick={() => setEdited("")}>
        <Icon name="plus" small />
        New secret
      </button>
      {edited !== null && <SecretForm name={edited} onClose={() => setEdited(null)} />}
      {removed && <SecretRemoval secret={removed} onClose={() => setRemoved(null)} />}
    </section>
  );
}

function usedBy(secret: SecretInfo, vendors: readonly Vendor[]): string {
  const asked = ownRows(vendors).filter((vendor) => vendor.keys.includes(secret.name)).map((vendor) => vendor.vendor);
  const parts = [
    secret.servers.length ? `used by ${plural(secret.servers.length, "server")}: ${secret.servers.join(", ")}` : "",
    asked.length ? `for models of ${asked.join(", ")}` : "",
  ];
  return parts.filter(Boolean).join(" · ") || WORDS.unused;
}

function SecretForm({ name: given, onClose }: { name: string; onClose: () => void }) {
  const [name, setName] = useState(given);
  const [value, setValue] = useState("");
  const [wrong, setWrong] = useState("");
  async function store(event: FormEvent) {
    event.preventDefault();
    try {
      const done = await run("secret_set", { name, value });
      notify(`Stored “${name}” in the ${done.place}.`);
      onClose();
    } catch (error) {
      setWrong(sentence(error));
    }
    void queries.invalidateQueries({ queryKey: ["secret_list"] });
  }
  return (
    <Dialog title={given ? `Set ${given}` : "New secret"} onClose={onClose}>
      <form style={{ display: "grid", gap: 14, padding: "14px 14px 18px" }} onSubmit={(event) => void store(event)}>
        {!given && (
          <label>
            <span className="m t12">Name</span>
            <span className="field"><input className="mono" value={name} required autoComplete="off" spellCheck={false} onChange={(event) => setName(event.target.value)} /></span>
          </label>
        )}
        <label>
          <span className="m t12">Value; it is not shown again</span>
          <span className="field"><input type="password" value={value} required autoComplete="off" onChange={(event) => setValue(event.target.value)} /></span>
        </label>
        {wrong && <p className="st fail" role="alert">{wrong}</p>}
        <div className="row" style={{ justifyContent: "flex-end" }}>
          <button type="button" className="btn" onClick={onClose}>Cancel</button>
          <button type="submit" className="btn pri" disabled={!name || !value}>Store</button>
        </div>
      </form>
    </Dialog>
  );
}

function SecretRemoval({ secret, onClose }: { secret: SecretInfo; onClose: () => void }) {
  const [wrong, setWrong] = useState("");
  async function remove() {
    setWrong("");
    try {
      await run("secret_remove", { name: secret.name });
      notify(`Deleted “${secret.name}”.`);
      onClose();
    } catch (error) {
      setWrong(sentence(error));
    }
    void queries.invalidateQueries({ queryKey: ["secret_list"] });
  }
  return (
    <Dialog title={`Delete ${secret.name}?`} onClose={onClose}>
      <div style={{ padding: "14px 14px 18px" }}>
        <p className="q">It cannot come back. {secret.servers.length ? `${secret.servers.join(", ")} will need it again.` : "No server uses it."}</p>
        {wrong && <p className="t12 wrong" role="alert">{wrong}</p>}
        <div className="row" style={{ justifyContent: "flex-end", marginTop: 16 }}>
          <button type="button" className="btn" onClick={onClose}>Keep it</button>
          <button type="button" className="btn dang" onClick={() => void remove()}>Delete it</button>
        </div>
      </div>
    </Dialog>
  );
}

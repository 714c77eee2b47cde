/** The section Secrets: names and who uses them, never values; set, replace and delete. The host stores them. */

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
import { TEXT } from "./text";

/** The names of secrets and who uses them. */
export function Secrets() {
  const { data } = useOperation("secret_list", {});
  const vendors = useOperation("models", {}).data?.vendors ?? [];
  const [edited, setEdited] = useState<string | null>(null);
  const [removed, setRemoved] = useState<SecretInfo | null>(null);
  return (
    <section className="settings-section" id="secrets">
      <h2>Secrets</h2>
      <p>{TEXT.secrets}</p>
      {data?.length === 0 && <p className="muted">{TEXT.noSecrets}</p>}
      {data?.map((secret) => (
        <div key={secret.name} className="setting-row">
          <b className="medium mono">{secret.name}</b>
          <p>
            {usedBy(secret, vendors)}
            {secret.place ? ` · in the ${secret.place}` : ""}
          </p>
          <span className="setting-control">
            {!secret.place && <Status shape="need" word="Not set" />}
            <button type="button" className="btn small" onClick={() => setEdited(secret.name)}>
              {secret.place ? "Replace" : "Set"}
            </button>
            {secret.place && (
              <button type="button" className="btn bare small danger" onClick={() => setRemoved(secret)}>
                Delete…
              </button>
            )}
          </span>
        </div>
      ))}
      <button type="button" className="btn bare small space-above-8" onClick={() => setEdited("")}>
        <Icon name="plus" small />
        New secret
      </button>
      {edited !== null && <SecretForm name={edited} onClose={() => setEdited(null)} />}
      {removed && <SecretRemoval secret={removed} onClose={() => setRemoved(null)} />}
    </section>
  );
}

function usedBy(secret: SecretInfo, vendors: readonly Vendor[]): string {
  const asked = vendors.filter((vendor) => vendor.keys.includes(secret.name)).map((vendor) => vendor.title);
  const parts = [
    secret.servers.length ? `used by ${plural(secret.servers.length, "server")}: ${secret.servers.join(", ")}` : "",
    asked.length ? `for models of ${asked.join(", ")}` : "",
  ];
  return parts.filter(Boolean).join(" · ") || TEXT.unused;
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
      <form className="dialog-form" onSubmit={(event) => void store(event)}>
        {!given && (
          <label>
            <span className="muted text-small">Name</span>
            <span className="field">
              <input
                className="mono"
                value={name}
                required
                autoComplete="off"
                spellCheck={false}
                onChange={(event) => setName(event.target.value)}
              />
            </span>
          </label>
        )}
        <label>
          <span className="muted text-small">Value (not shown again)</span>
          <span className="field">
            <input
              type="password"
              value={value}
              required
              autoComplete="off"
              onChange={(event) => setValue(event.target.value)}
            />
          </span>
        </label>
        {wrong && (
          <p className="status fail" role="alert">
            {wrong}
          </p>
        )}
        <div className="row align-end">
          <button type="button" className="btn" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="btn primary" disabled={!name || !value}>
            Save
          </button>
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
      <div className="dialog-body">
        <p className="secondary">
          This cannot be undone.{" "}
          {secret.servers.length ? `${secret.servers.join(", ")} will need it again.` : "No server uses it."}
        </p>
        {wrong && (
          <p className="text-small error-text" role="alert">
            {wrong}
          </p>
        )}
        <div className="row align-end space-above-16">
          <button type="button" className="btn" onClick={onClose}>
            Keep
          </button>
          <button type="button" className="btn danger" onClick={() => void remove()}>
            Delete
          </button>
        </div>
      </div>
    </Dialog>
  );
}

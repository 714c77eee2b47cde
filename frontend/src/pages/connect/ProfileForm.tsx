/** The form of a gateway profile: servers, tool patterns, read-only, search tools, where approvals are asked,
 * characters and length of its name. */

import { useState, type FormEvent } from "react";

import { run } from "../../api/client";
import { queries, useOperation } from "../../api/hooks";
import type { ProfileShown } from "../../api/types";
import { notify } from "../../app/notices";
import { Dialog } from "../../ui/Dialog";
import { Switch } from "../../ui/Switch";
import { ErrorBox } from "../../ui/ErrorBox";
import { APPROVALS, TEXT } from "./text";

const NAME = /^[A-Za-z0-9_-]{1,60}$/;

/** A view: which servers and tools, and how they are shown. */
export function ProfileForm({ view, onClose }: { view: ProfileShown | null; onClose: () => void }) {
  const servers = useOperation("servers", {}).data ?? [];
  const [name, setName] = useState(view?.name ?? "");
  const [chosen, setChosen] = useState<string[]>(view?.servers ?? []);
  const [patterns, setPatterns] = useState((view?.tools ?? []).join(", "));
  const [readOnly, setReadOnly] = useState(view?.read_only ?? false);
  const [search, setSearch] = useState(view?.search ?? false);
  const [approvals, setApprovals] = useState<ProfileShown["approvals"]>(view?.approvals ?? "client");
  const [trouble, setTrouble] = useState<unknown>(null);
  const wrong = name !== "" && !NAME.test(name);

  async function save(event: FormEvent) {
    event.preventDefault();
    const tools = patterns.split(/[\s,]+/).filter(Boolean);
    try {
      await run("profile_add", {
        name,
        servers: chosen,
        tools,
        read_only: readOnly,
        search,
        plain_names: view?.plain_names ?? false,
        always_on: null,
        k: null,
        approvals,
        replace: view !== null,
      });
      notify(`Saved: profile ${name}.`);
      onClose();
    } catch (error) {
      setTrouble(error);
    }
    void queries.invalidateQueries({ queryKey: ["profile_list"] });
  }

  function choose(server: string, on: boolean) {
    setChosen(on ? [...chosen, server] : chosen.filter((one) => one !== server));
  }

  return (
    <Dialog title={view ? `Profile ${view.name}` : "New profile"} onClose={onClose}>
      <form className="dialog-form" onSubmit={(event) => void save(event)}>
        <label>
          <span className="muted text-small">Name</span>
          <span className="field">
            <input
              value={name}
              disabled={view !== null}
              aria-invalid={wrong}
              onChange={(event) => setName(event.target.value)}
            />
          </span>
          {wrong && <span className="status fail text-small">Use letters, digits, - and _.</span>}
        </label>
        <fieldset className="plain-fieldset">
          <legend className="muted text-small">Servers (leave empty for all)</legend>
          <div className="row wrap server-boxes">
            {servers.map((server) => (
              <label key={server.name} className="row server-box">
                <input
                  type="checkbox"
                  checked={chosen.includes(server.name)}
                  onChange={(event) => choose(server.name, event.target.checked)}
                />
                {server.name}
              </label>
            ))}
          </div>
        </fieldset>
        <label>
          <span className="muted text-small">Tools, as patterns such as git__* (leave empty for all)</span>
          <span className="field">
            <input className="mono" value={patterns} onChange={(event) => setPatterns(event.target.value)} />
          </span>
        </label>
        <div className="row">
          <span className="grow">Read-only tools only</span>
          <Switch label="Read-only tools only" on={readOnly} onChange={setReadOnly} />
        </div>
        <div className="row">
          <span className="grow">Offer search tools instead of the full list</span>
          <Switch label="Offer search tools instead of the full list" on={search} onChange={setSearch} />
        </div>
        <label>
          <span className="muted text-small">{TEXT.approvals}</span>
          <select
            className="field"
            value={approvals}
            onChange={(event) => setApprovals(event.target.value as ProfileShown["approvals"])}
          >
            {Object.entries(APPROVALS).map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </select>
        </label>
        {trouble !== null && <ErrorBox error={trouble} />}
        <div className="row align-end">
          <button type="button" className="btn" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="btn primary" disabled={!NAME.test(name)}>
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}

import { useState, type FormEvent } from "react";

import { run } from "../../api/client";
import { queries, useOperation } from "../../api/hooks";
import type { ProfileShown } from "../../api/types";
import { notify } from "../../app/notices";
import { Dialog } from "../../ui/Dialog";
import { Switch } from "../../ui/Switch";
import { Trouble } from "../../ui/Trouble";

const NAME = /^[A-Za-z0-9_-]{1,60}$/;

/** A view: which servers and tools, and how they are shown. */
export function ProfileForm({ view, onClose }: { view: ProfileShown | null; onClose: () => void }) {
  const servers = useOperation("servers", {}).data ?? [];
  const [name, setName] = useState(view?.name ?? "");
  const [chosen, setChosen] = useState<string[]>(view?.servers ?? []);
  const [patterns, setPatterns] = useState((view?.tools ?? []).join(", "));
  const [readOnly, setReadOnly] = useState(view?.read_only ?? false);
  const [search, setSearch] = useState(view?.search ?? false);
  const [trouble, setTrouble] = useState<unknown>(null);
  const wrong = name !== "" && !NAME.test(name);

  async function save(event: FormEvent) {
    event.preventDefault();
    const tools = patterns.split(/[\s,]+/).filter(Boolean);
    try {
      await run("profile_add", { name, servers: chosen, tools, read_only: readOnly, search, plain_names: view?.plain_names ?? false, always_on: null, k: null, replace: view !== null });
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
      <form style={{ display: "grid", gap: 14, padding: "14px 14px 18px" }} onSubmit={(event) => void save(event)}>
        <label>
          <span className="m t12">Name</span>
          <span className="field">
            <input value={name} disabled={view !== null} aria-invalid={wrong} onChange={(event) => setName(event.target.value)} />
          </span>
          {wrong && <span className="st fail t12">Letters, digits, - and _.</span>}
        </label>
        <fieldset style={{ border: 0, margin: 0, padding: 0 }}>
          <legend className="m t12">Servers; none means all</legend>
          <div className="row wrap" style={{ gap: "6px 16px", marginTop: 4 }}>
            {servers.map((server) => (
              <label key={server.name} className="row" style={{ gap: 6 }}>
                <input type="checkbox" checked={chosen.includes(server.name)} onChange={(event) => choose(server.name, event.target.checked)} />
                {server.name}
              </label>
            ))}
          </div>
        </fieldset>
        <label>
          <span className="m t12">Tools, as patterns such as git__*; none means all</span>
          <span className="field">
            <input className="mono" value={patterns} onChange={(event) => setPatterns(event.target.value)} />
          </span>
        </label>
        <div className="row">
          <span className="grow">Only what declares to change nothing</span>
          <Switch label="Only what declares to change nothing" on={readOnly} onChange={setReadOnly} />
        </div>
        <div className="row">
          <span className="grow">Three tools to search with, instead of all</span>
          <Switch label="Three tools to search with, instead of all" on={search} onChange={setSearch} />
        </div>
        {trouble !== null && <Trouble error={trouble} />}
        <div className="row" style={{ justifyContent: "flex-end" }}>
          <button type="button" className="btn" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="btn pri" disabled={!NAME.test(name)}>
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}

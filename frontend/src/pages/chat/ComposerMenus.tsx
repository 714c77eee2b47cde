/** The menus below the message field: choosing a model, another model by name, the approval mode, and the question
 * before approvals are turned off. */

import { useState, type FormEvent } from "react";

import { useOperation } from "../../api/hooks";
import { Dialog } from "../../ui/Dialog";
import { Icon } from "../../ui/Icon";
import { Menu } from "../../ui/Menu";
import { knownModels } from "./models";
import { MODES, TEXT, type ModeName } from "./text";

/** Who answers: what is there, and any other by its name. */
export function ModelMenu({ model, onModel }: { model: string; onModel: (model: string) => void }) {
  const { data } = useOperation("models", {});
  const { data: listed } = useOperation("chats", { limit: 50 });
  const [asking, setAsking] = useState(false);
  const known = knownModels(data, listed?.chats.map((chat) => chat.model) ?? [], model);
  return (
    <>
      <Menu
        align="start"
        trigger={
          <button type="button" className="btn bare small ellipsis" aria-label={`${TEXT.chooseModel}, now ${model}`}>
            <span className="ellipsis">{model || TEXT.chooseModel}</span> <Icon name="down" small />
          </button>
        }
        entries={[
          ...known.map((name) => ({
            name: name === model ? <b className="medium">{name}</b> : name,
            onSelect: () => onModel(name),
          })),
          { name: TEXT.otherModel, apart: true, onSelect: () => setAsking(true) },
        ]}
      />
      {asking && <OtherModel onClose={() => setAsking(false)} onModel={onModel} />}
    </>
  );
}

function OtherModel({ onClose, onModel }: { onClose: () => void; onModel: (model: string) => void }) {
  const [name, setName] = useState("");
  function take(event: FormEvent) {
    event.preventDefault();
    if (!name.trim()) return;
    onModel(name.trim());
    onClose();
  }
  return (
    <Dialog title={TEXT.chooseModel} onClose={onClose}>
      <form className="form-body" onSubmit={take}>
        <label className="text-small muted" htmlFor="model-name">
          {TEXT.modelName}
        </label>
        <div className="field model-field">
          <input
            id="model-name"
            value={name}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => setName(event.target.value)}
          />
        </div>
        <button type="submit" className="btn primary">
          {TEXT.save}
        </button>
      </form>
    </Dialog>
  );
}

export function ModeMenu({ mode, onMode }: { mode: ModeName | null; onMode: (mode: ModeName) => void }) {
  const { data } = useOperation("host_info", {});
  const [sure, setSure] = useState(false);
  const now = mode ?? data?.mode ?? "on_miss";
  const name = MODES.find((one) => one.value === now)?.name ?? now;
  return (
    <>
      <Menu
        align="start"
        trigger={
          <button type="button" className="btn bare small hide-narrow" aria-label={`${TEXT.chooseMode}, now ${name}`}>
            {name} <Icon name="down" small />
          </button>
        }
        entries={MODES.map((one) => ({
          name: one.value === now ? <b className="medium">{one.name}</b> : one.name,
          onSelect: () => (one.value === "off" ? setSure(true) : onMode(one.value)),
        }))}
      />
      {sure && (
        <Dialog title={TEXT.turnOff} onClose={() => setSure(false)}>
          <div className="confirm-body">
            <p className="secondary">{TEXT.nothingAsks}</p>
            <div className="row space-above-16">
              <button type="button" className="btn" onClick={() => setSure(false)}>
                {TEXT.cancel}
              </button>
              <button
                type="button"
                className="btn danger"
                onClick={() => {
                  onMode("off");
                  setSure(false);
                }}
              >
                {TEXT.turnOffNow}
              </button>
            </div>
          </div>
        </Dialog>
      )}
    </>
  );
}

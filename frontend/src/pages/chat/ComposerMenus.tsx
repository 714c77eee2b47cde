import { useState, type FormEvent } from "react";

import { useOperation } from "../../api/hooks";
import { Dialog } from "../../ui/Dialog";
import { Icon } from "../../ui/Icon";
import { Menu } from "../../ui/Menu";
import { knownModels } from "./models";
import { MODES, WORDS, type ModeName } from "./words";

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
          <button type="button" className="btn bare sm el" aria-label={`${WORDS.chooseModel}, now ${model}`}>
            <span className="el">{model || WORDS.chooseModel}</span> <Icon name="down" small />
          </button>
        }
        entries={[
          ...known.map((name) => ({ name: name === model ? <b className="b">{name}</b> : name, onSelect: () => onModel(name) })),
          { name: WORDS.otherModel, apart: true, onSelect: () => setAsking(true) },
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
    <Dialog title={WORDS.chooseModel} onClose={onClose}>
      <form onSubmit={take} style={{ padding: "0 20px 20px" }}>
        <label className="t12 m" htmlFor="model-name">{WORDS.modelName}</label>
        <div className="field" style={{ margin: "6px 0 14px" }}>
          <input id="model-name" value={name} autoComplete="off" spellCheck={false} onChange={(event) => setName(event.target.value)} />
        </div>
        <button type="submit" className="btn pri">{WORDS.save}</button>
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
          <button type="button" className="btn bare sm hide-s" aria-label={`${WORDS.chooseMode}, now ${name}`}>
            {name} <Icon name="down" small />
          </button>
        }
        entries={MODES.map((one) => ({
          name: one.value === now ? <b className="b">{one.name}</b> : one.name,
          onSelect: () => (one.value === "off" ? setSure(true) : onMode(one.value)),
        }))}
      />
      {sure && (
        <Dialog title={WORDS.turnOff} onClose={() => setSure(false)}>
          <div style={{ padding: "4px 20px 20px" }}>
            <p className="q">{WORDS.nothingAsks}</p>
            <div className="row" style={{ marginTop: 16 }}>
              <button type="button" className="btn" onClick={() => setSure(false)}>{WORDS.cancel}</button>
              <button type="button" className="btn dang" onClick={() => { onMode("off"); setSure(false); }}>{WORDS.turnOffNow}</button>
            </div>
          </div>
        </Dialog>
      )}
    </>
  );
}

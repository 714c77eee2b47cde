/** Step 2 of Welcome: choosing a model among those found, connecting a vendor or an address, or the demo. */

import { RadioGroup } from "radix-ui";
import { useState, type ReactNode } from "react";

import { useOperation } from "../../api/hooks";
import type { LocalServer, Models } from "../../api/types";
import { plural } from "../../ui/amounts";
import { Icon } from "../../ui/Icon";
import { ConnectForm, keyedVendors, OTHER } from "../models/ConnectForm";
import { useFoundServer } from "../models/useFoundServer";
import type { Choice } from "./found";
import { Step } from "./Step";
import { TEXT } from "./text";

interface Props {
  models: Models | undefined;
  offered: readonly Choice[];
  chosen: string;
  onChoose: (model: string) => void;
}

/** Who answers: what was found, another by a key or an address, or the demo. */
export function ModelStep({ models, offered, chosen, onChoose }: Props) {
  const { data: local } = useOperation("local_models", {});
  const [adding, setAdding] = useState<string | null>(null);
  const keyed = keyedVendors(models?.vendors ?? []);
  const nothing = models !== undefined && !offered.some((one) => one.tag !== "") && !local?.length;
  const others = offered.some((one) => one.model === chosen)
    ? []
    : [{ model: chosen, name: chosen, about: "", tag: "added" as const }];
  const below = (
    <div className="model-options">
      <RadioGroup.Root aria-label="Model" value={chosen} onValueChange={onChoose}>
        {[...others, ...offered].map((choice) => (
          <Row key={choice.model} choice={choice} on={choice.model === chosen} />
        ))}
      </RadioGroup.Root>
      {local?.map((server) => (
        <FoundRow key={server.address} server={server} onModel={onChoose} />
      ))}
      <ActionRow name={TEXT.vendors(keyed.map((one) => one.title))} about={TEXT.vendorsAbout}>
        <button type="button" className="btn small" onClick={() => setAdding(keyed[0]?.vendor ?? OTHER)}>
          {TEXT.addKey}
        </button>
      </ActionRow>
      <ActionRow name={TEXT.address} about={TEXT.addressAbout}>
        <button type="button" className="btn small" onClick={() => setAdding(OTHER)}>
          {TEXT.addAddress}
        </button>
      </ActionRow>
    </div>
  );
  return (
    <Step number={2} shape={models?.model ? "done" : "need"} title={TEXT.model} below={below}>
      <p>{nothing ? TEXT.noModel : TEXT.looked}</p>
      {adding !== null && <ConnectForm vendor={adding} onClose={() => setAdding(null)} onModel={onChoose} />}
    </Step>
  );
}

function Row({ choice, on }: { choice: Choice; on: boolean }) {
  const id = `model-${choice.model}`;
  return (
    <div className={on ? "model-row selected" : "model-row"}>
      <RadioGroup.Item className={on ? "radio selected" : "radio"} value={choice.model} id={id} />
      <label htmlFor={id}>
        <b className="medium">{choice.name}</b> <span className="muted">{choice.about}</span>
      </label>
      {choice.tag ? <span className="tag ok">{choice.tag}</span> : <span />}
    </div>
  );
}

/** What is not chosen but done: it has a button, and no circle. */
function ActionRow({ name, about, children }: { name: string; about: ReactNode; children: ReactNode }) {
  return (
    <div className="model-row">
      <Icon name="plus" small />
      <span>
        <b className="medium">{name}</b> <span className="muted">{about}</span>
      </span>
      {children}
    </div>
  );
}

/** A model server that listens on this computer: one click tests it and adds it. */
function FoundRow({ server, onModel }: { server: LocalServer; onModel: (model: string) => void }) {
  const { asking, wrong, use } = useFoundServer(server, onModel);
  const about = TEXT.localAbout(plural(server.models.length, "model"), server.address.replace(/^https?:\/\//, ""));
  return (
    <ActionRow name={server.title} about={wrong ? <span className="status fail wrap-text">{wrong}</span> : about}>
      <span className="row">
        <span className="tag ok">found</span>
        <button type="button" className="btn small" disabled={asking} onClick={() => void use()}>
          {asking ? TEXT.testing : TEXT.use}
        </button>
      </span>
    </ActionRow>
  );
}

/** Step 2 of Welcome: choosing a model among those found, adding a key, or the demo. Default models of vendors are in
 * `found.ts`. */

import { RadioGroup } from "radix-ui";
import { useState } from "react";

import type { Models } from "../../api/types";
import { KeyForm } from "../settings/KeyForm";
import type { Choice } from "./found";
import { Step } from "./Step";
import { TEXT } from "./text";

interface Props {
  models: Models | undefined;
  offered: readonly Choice[];
  chosen: string;
  onChoose: (model: string) => void;
}

/** Who answers: what was found, another by a key, or the demo. */
export function ModelStep({ models, offered, chosen, onChoose }: Props) {
  const [adding, setAdding] = useState(false);
  const nothing = models !== undefined && !offered.some((one) => one.found);
  const others = offered.some((one) => one.model === chosen)
    ? []
    : [{ model: chosen, name: chosen, about: "", found: true }];
  const listed = [...others, ...offered];
  const demo = listed.at(-1);
  const below = (
    <RadioGroup.Root className="model-options" aria-label="Model" value={chosen} onValueChange={onChoose}>
      {listed.slice(0, -1).map((choice) => (
        <Row key={choice.model} choice={choice} on={choice.model === chosen} />
      ))}
      <div>
        <span className="radio" aria-hidden="true" />
        <b className="medium">{TEXT.other}</b>
        <button type="button" className="btn bare small" onClick={() => setAdding(true)}>
          {TEXT.addKey}
        </button>
      </div>
      {demo && <Row choice={demo} on={demo.model === chosen} />}
    </RadioGroup.Root>
  );
  return (
    <Step number={2} shape={models?.model ? "done" : "need"} title={TEXT.model} below={below}>
      <p>{nothing ? TEXT.noModel : TEXT.looked}</p>
      {adding && <KeyForm vendors={models?.vendors ?? []} onClose={() => setAdding(false)} onModel={onChoose} />}
    </Step>
  );
}

function Row({ choice, on }: { choice: Choice; on: boolean }) {
  const id = `model-${choice.model}`;
  return (
    <div className={on ? "selected" : ""}>
      <RadioGroup.Item className={on ? "radio selected" : "radio"} value={choice.model} id={id} />
      <label htmlFor={id}>
        <b className="medium">{choice.name}</b> <span className="muted">{choice.about}</span>
      </label>
      {choice.found ? <span className="tag ok">found</span> : <span />}
    </div>
  );
}

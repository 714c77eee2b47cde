/** Names and values of a setting, one pair a row, such as those of a Set step. */

import { useId } from "react";

import { Icon } from "../../../ui/Icon";
import { asSchema } from "../../../ui/schema-form/schema";
import { labelOf } from "../../../ui/schema-form/text";
import { hasReference } from "../graph/references";
import { reveal } from "../../../ui/hidden";
import { SETUP } from "../text/panel";
import type { SettingFieldProps } from "./fieldProps";
import { TextValue } from "./TextValue";
import { anyText, anyValue } from "./values";

/** Names and values, one pair a row. */
export function PairsField({ field, value, sources, disabled, onChange }: SettingFieldProps) {
  const id = useId();
  if (typeof value === "string" && hasReference(value))
    return (
      <TextValue
        label={labelOf(field)}
        text={value}
        read={(text) => ({ value: anyValue(text), wrong: "" })}
        {...{ sources, disabled, onChange }}
      />
    );
  const pairs = Object.entries(asSchema(value) ?? {});
  const put = (next: readonly (readonly [string, unknown])[]) => onChange(Object.fromEntries(next));
  return (
    <fieldset className="form-field pairs" aria-labelledby={id} disabled={disabled}>
      <div className="field-label" id={id}>
        <b>{labelOf(field)}</b>
      </div>
      {field.description && <p className="field-help">{reveal(field.description)}</p>}
      {pairs.map(([name, one], index) => (
        <div key={index} className="pair-row">
          <div className="field mono">
            <input
              aria-label={SETUP.nameLabel}
              value={name}
              autoComplete="off"
              spellCheck={false}
              onChange={(event) =>
                put(pairs.map((pair, place) => (place === index ? [event.target.value, pair[1]] : pair)))
              }
            />
          </div>
          <TextValue
            hideLabel
            label={`${SETUP.valueLabel}: ${name}`}
            text={anyText(one)}
            read={(text) => ({ value: anyValue(text) ?? "", wrong: "" })}
            sources={sources}
            disabled={disabled}
            onChange={(next) => put(pairs.map((pair, place) => (place === index ? [name, next] : pair)))}
          />
          <button
            type="button"
            className="btn bare small icon-only"
            aria-label={SETUP.remove(name)}
            onClick={() => put(pairs.filter((_, place) => place !== index))}
          >
            <Icon name="close" small />
          </button>
        </div>
      ))}
      <button type="button" className="btn small space-above-6" onClick={() => put([...pairs, [freeName(pairs), ""]])}>
        {SETUP.add}
      </button>
    </fieldset>
  );
}

function freeName(pairs: readonly (readonly [string, unknown])[]): string {
  const taken = new Set(pairs.map(([name]) => name));
  let number = 1;
  while (taken.has(number === 1 ? "name" : `name_${number}`)) number += 1;
  return number === 1 ? "name" : `name_${number}`;
}

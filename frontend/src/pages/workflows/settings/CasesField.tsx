/** The cases of a Switch step as fields: each is an output of the step. */

import { Icon } from "../../../ui/Icon";
import { SETUP } from "../text/panel";
import { Condition } from "./ConditionField";
import { conditionOf, newComparison } from "./conditions";
import type { SettingFieldProps } from "./fieldProps";

interface Case {
  name: string;
  condition: unknown;
}

/** The cases of a Switch: each is an output of the step. */
export function CasesField({ value, sources, disabled, onChange }: SettingFieldProps) {
  const cases = (Array.isArray(value) ? value : []) as Case[];
  const change = (index: number, part: Partial<Case>) =>
    onChange(cases.map((one, place) => (place === index ? { ...one, ...part } : one)));
  const add = () =>
    onChange([
      ...cases,
      { name: `case ${cases.length + 1}`, condition: conditionOf({ join: "all", comparisons: [newComparison()] }) },
    ]);
  return (
    <fieldset className="form-field" disabled={disabled}>
      <legend className="field-label">
        <b>{SETUP.cases}</b>
      </legend>
      {cases.map((one, index) => (
        <div key={index} className="case">
          <div className="row">
            <div className="field grow">
              <input
                aria-label={SETUP.case}
                value={one.name}
                maxLength={64}
                autoComplete="off"
                onChange={(event) => change(index, { name: event.target.value })}
              />
            </div>
            <button
              type="button"
              className="btn bare small icon-only"
              aria-label={SETUP.remove(one.name)}
              onClick={() => onChange(cases.filter((_, place) => place !== index))}
            >
              <Icon name="close" small />
            </button>
          </div>
          <Condition
            value={one.condition}
            sources={sources}
            disabled={disabled}
            onChange={(condition) => change(index, { condition })}
          />
        </div>
      ))}
      <button type="button" className="btn small space-above-6" onClick={add}>
        {SETUP.addCase}
      </button>
    </fieldset>
  );
}

/** The fields of a condition: rows of value, comparison and value, joined by all or any. Nested ones are edited as
 * JSON. */

import { useId } from "react";

import { OPERATOR_WORDS } from "../../../api/types";
import { Icon } from "../../../ui/Icon";
import { labelOf } from "../../../ui/schema-form/text";
import type { Source } from "../graph/references";
import { SETUP } from "../text/panel";
import { reveal } from "../../../ui/hidden";
import {
  conditionOf,
  hasRight,
  newComparison,
  OPERATORS,
  rowsOfCondition,
  type Comparison,
  type Rows,
} from "./conditions";
import type { SettingFieldProps } from "./fieldProps";
import { TextValue } from "./TextValue";
import { anyText, anyValue } from "./values";

/** A condition as rows of value, comparison and value. */
export function ConditionField({ field, value, sources, disabled, onChange }: SettingFieldProps) {
  return (
    <fieldset className="form-field condition" disabled={disabled}>
      <legend className="field-label">
        <b>{labelOf(field)}</b>
      </legend>
      {field.description && <p className="field-help">{reveal(field.description)}</p>}
      <Condition value={value} sources={sources} disabled={disabled} onChange={onChange} />
    </fieldset>
  );
}

interface ConditionProps {
  value: unknown;
  sources: readonly Source[];
  disabled: boolean;
  onChange: (value: unknown) => void;
}

export function Condition({ value, sources, disabled, onChange }: ConditionProps) {
  const id = useId();
  const rows = rowsOfCondition(value);
  if (rows === null) return <Nested {...{ value, sources, disabled, onChange }} />;
  const put = (next: Rows) => onChange(conditionOf(next));
  const change = (index: number, part: Partial<Comparison>) =>
    put({ ...rows, comparisons: rows.comparisons.map((one, place) => (place === index ? { ...one, ...part } : one)) });
  return (
    <>
      {rows.comparisons.length > 1 && (
        <>
          <label className="visually-hidden" htmlFor={id}>
            {SETUP.join}
          </label>
          <select
            id={id}
            className="field full-width"
            value={rows.join}
            onChange={(event) => put({ ...rows, join: event.target.value as Rows["join"] })}
          >
            <option value="all">{SETUP.joins.all}</option>
            <option value="any">{SETUP.joins.any}</option>
          </select>
        </>
      )}
      {rows.comparisons.map((one, index) => (
        <ComparisonRow
          key={index}
          one={one}
          sources={sources}
          disabled={disabled}
          onChange={(part) => change(index, part)}
          {...(rows.comparisons.length > 1
            ? { onRemove: () => put({ ...rows, comparisons: rows.comparisons.filter((_, place) => place !== index) }) }
            : {})}
        />
      ))}
      <button
        type="button"
        className="btn small space-above-6"
        onClick={() => put({ ...rows, comparisons: [...rows.comparisons, newComparison()] })}
      >
        {SETUP.addComparison}
      </button>
    </>
  );
}

interface RowProps {
  one: Comparison;
  sources: readonly Source[];
  disabled: boolean;
  onChange: (part: Partial<Comparison>) => void;
  onRemove?: () => void;
}

function ComparisonRow({ one, sources, disabled, onChange, onRemove }: RowProps) {
  const read = (text: string) => ({ value: anyValue(text), wrong: "" });
  return (
    <div className="comparison">
      <TextValue
        hideLabel
        label={SETUP.left}
        text={anyText(one.left)}
        placeholder="{{step.field}}"
        onChange={(left) => onChange({ left })}
        {...{ read, sources, disabled }}
      />
      <div className="row">
        <select
          className="field grow"
          aria-label={SETUP.operator}
          value={one.operator}
          onChange={(event) => onChange({ operator: event.target.value as Comparison["operator"] })}
        >
          {OPERATORS.map((operator) => (
            <option key={operator} value={operator}>
              {OPERATOR_WORDS[operator]}
            </option>
          ))}
        </select>
        {onRemove && (
          <button
            type="button"
            className="btn bare small icon-only"
            aria-label={SETUP.remove(SETUP.operator)}
            onClick={onRemove}
          >
            <Icon name="close" small />
          </button>
        )}
      </div>
      {hasRight(one.operator) && (
        <TextValue
          hideLabel
          label={SETUP.right}
          text={anyText(one.right)}
          onChange={(right) => onChange({ right })}
          {...{ read, sources, disabled }}
        />
      )}
    </div>
  );
}

/** A condition that rows cannot show. */
function Nested({ value, sources, disabled, onChange }: ConditionProps) {
  return (
    <TextValue
      long
      label={SETUP.conditionJson}
      help={SETUP.json}
      text={JSON.stringify(value, null, 2)}
      read={(text) => {
        try {
          return { value: JSON.parse(text) as unknown, wrong: "" };
        } catch {
          return { value: undefined, wrong: SETUP.badJson };
        }
      }}
      {...{ sources, disabled, onChange }}
    />
  );
}

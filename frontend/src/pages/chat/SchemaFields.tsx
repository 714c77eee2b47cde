/** The fields of a form that a server asks the user to fill in during a call. Never a password field. */

import { useId } from "react";

import { reveal } from "../../ui/hidden";
import { Switch } from "../../ui/Switch";
import { choices, type Field, type Fields } from "./form";

type Values = Record<string, unknown>;

interface Props {
  schema: Fields;
  values: Values;
  wrong: Record<string, string>;
  onChange: (values: Values) => void;
}

/** The fields that a server asks for. Never a password: such a field would be one of ours. */
export function SchemaFields({ schema, values, wrong, onChange }: Props) {
  function put(name: string, value: unknown) {
    const { [name]: _before, ...others } = values;
    onChange(value === undefined ? others : { ...others, [name]: value });
  }
  return (
    <>
      {Object.entries(schema.properties ?? {}).map(([name, field]) => (
        <One
          key={name}
          name={name}
          field={field}
          value={values[name]}
          wrong={wrong[name] ?? ""}
          onChange={(value) => put(name, value)}
        />
      ))}
    </>
  );
}

interface OneProps {
  name: string;
  field: Field;
  value: unknown;
  wrong: string;
  onChange: (value: unknown) => void;
}

function One({ name, field, value, wrong, onChange }: OneProps) {
  const id = useId();
  const label = reveal(field.title ?? name);
  return (
    <div className="space-above-10">
      <label htmlFor={id} className="text-small medium">
        {label}
      </label>
      {field.description && <p className="muted text-small">{reveal(field.description)}</p>}
      <Control id={id} label={label} field={field} value={value} onChange={onChange} />
      {wrong && (
        <p className="text-small error-text" role="alert">
          {wrong}
        </p>
      )}
    </div>
  );
}

interface ControlProps {
  id: string;
  label: string;
  field: Field;
  value: unknown;
  onChange: (value: unknown) => void;
}

function Control({ id, label, field, value, onChange }: ControlProps) {
  const options = choices(field);
  if (field.type === "boolean")
    return (
      <div>
        <Switch label={label} on={value === true} onChange={onChange} />
      </div>
    );
  if (field.type === "array") return <Several field={field} value={value} onChange={onChange} />;
  if (options.length > 0) {
    return (
      <select
        id={id}
        className="field full-width"
        value={String(value ?? "")}
        onChange={(event) => onChange(event.target.value || undefined)}
      >
        <option value="" />
        {options.map((one) => (
          <option key={one.value} value={one.value}>
            {reveal(one.name)}
          </option>
        ))}
      </select>
    );
  }
  const numeric = field.type === "number" || field.type === "integer";
  return (
    <div className="field">
      <input
        id={id}
        type="text"
        autoComplete="off"
        inputMode={numeric ? "decimal" : "text"}
        defaultValue={value === undefined ? "" : String(value)}
        onChange={(event) => onChange(read(event.target.value, numeric))}
      />
    </div>
  );
}

function read(text: string, numeric: boolean): unknown {
  if (text === "") return undefined;
  return numeric ? Number(text) : text;
}

function Several({ field, value, onChange }: { field: Field; value: unknown; onChange: (value: unknown) => void }) {
  const chosen = new Set(Array.isArray(value) ? value.map(String) : []);
  const options =
    field.items?.anyOf?.map((one) => ({ value: String(one.const), name: one.title ?? String(one.const) })) ??
    (field.items?.enum ?? []).map((one) => ({ value: String(one), name: String(one) }));
  function turn(one: string, on: boolean) {
    const next = new Set(chosen);
    if (on) next.add(one);
    else next.delete(one);
    onChange([...next]);
  }
  return (
    <div className="row wrap">
      {options.map((one) => (
        <label key={one.value} className="row">
          <input
            type="checkbox"
            checked={chosen.has(one.value)}
            onChange={(event) => turn(one.value, event.target.checked)}
          />
          {reveal(one.name)}
        </label>
      ))}
    </div>
  );
}

/** The form for the settings of a step, made from its schema: which kind of field a setting gets. Any value may be a
 * reference to an earlier step. */

import { useMemo } from "react";

import { usePages } from "../../../api/hooks";
import { asSchema, named, type Field, fieldsOf, type Schema } from "../../../ui/schema-form/schema";
import { labelOf, TEXT as FORM } from "../../../ui/schema-form/text";
import { reveal } from "../../../ui/hidden";
import { Switch } from "../../../ui/Switch";
import type { Settings } from "../graph/file";
import { hasReference, type Source } from "../graph/references";
import { SETUP } from "../text/panel";
import { CasesField } from "./CasesField";
import { ConditionField } from "./ConditionField";
import type { SettingFieldProps } from "./fieldProps";
import { PairsField } from "./PairsField";
import { TextValue } from "./TextValue";
import { ToolField } from "./ToolField";
import { readText, textOf, withSetting } from "./values";

interface Props {
  schema: Schema;
  settings: Settings;
  sources: readonly Source[];
  disabled: boolean;
  /** The names of settings that are not shown. */
  hidden?: readonly string[];
  onChange: (settings: Settings, key: string) => void;
}

/** A form for the settings that a schema describes; any value may be a reference to an earlier step. */
export function SettingsForm({ schema, settings, sources, disabled, hidden = [], onChange }: Props) {
  const fields = useMemo(() => fieldsOf(schema).map(plain), [schema]);
  const shown = fields.filter((field) => !hidden.includes(field.name));
  if (shown.length === 0) return <p className="muted text-small">{SETUP.none}</p>;
  const [usual, rare] = [shown.filter((field) => !isRare(field)), shown.filter(isRare)];
  const fieldOf = (field: Field) => (
    <SettingField
      key={field.name}
      field={field}
      value={settings[field.name]}
      settings={settings}
      sources={sources}
      disabled={disabled}
      onChange={(value) => onChange(withSetting(settings, field.name, value), field.name)}
    />
  );
  return (
    <div className="schema-form settings-form">
      {usual.map(fieldOf)}
      {rare.length > 0 && (
        <details className="further" open={rare.some((field) => settings[field.name] !== undefined)}>
          <summary>{SETUP.moreOptions}</summary>
          {rare.map(fieldOf)}
        </details>
      )}
    </div>
  );
}

function isRare(field: Field): boolean {
  return field.schema["x-rare"] === true;
}

/** What is said beside a label: whether a value is needed, else the default. */
function beside(field: Field): string {
  if (field.required) return SETUP.required.toLowerCase();
  const { fallback } = field;
  return typeof fallback === "number" || (typeof fallback === "string" && fallback) ? SETUP.byDefault(fallback) : "";
}

function SettingField(props: SettingFieldProps) {
  const { field, value, settings, disabled, onChange } = props;
  if (/(^|_)condition$/.test(field.name)) return <ConditionField {...props} />;
  if (field.name === "cases") return <CasesField {...props} />;
  if (field.name === "tool" && field.kind === "text") return <ToolField {...props} />;
  if (field.name === "arguments" && typeof settings["tool"] === "string") return <ArgumentsField {...props} />;
  if (isOpenObject(field)) return <PairsField {...props} />;
  if (field.kind === "switch" && !(typeof value === "string" && hasReference(value)))
    return (
      <div className="form-field">
        <div className="row switch-field">
          <Switch
            label={labelOf(field)}
            on={value === undefined ? field.fallback === true : value === true}
            disabled={disabled}
            onChange={onChange}
          />
          <span className="field-label">
            <b>{labelOf(field)}</b>
          </span>
        </div>
        {field.description && <p className="field-help">{reveal(field.description)}</p>}
      </div>
    );
  if (field.kind === "choice" && !(typeof value === "string" && hasReference(value))) return <ChoiceField {...props} />;
  return (
    <TextValue
      label={labelOf(field)}
      about={beside(field)}
      help={field.description}
      text={textOf(field, value)}
      read={(text) => readText(field, text)}
      onChange={onChange}
      sources={props.sources}
      disabled={disabled}
      fixed={field.schema["x-fixed"] === true}
      long={field.kind === "long" || field.kind === "list" || field.kind === "json"}
      placeholder={field.fallback === undefined || field.fallback === null ? "" : named(field.fallback)}
    />
  );
}

function ChoiceField({ field, value, disabled, onChange }: SettingFieldProps) {
  const id = `setting-${field.name}`;
  return (
    <div className="form-field">
      <label className="field-label" htmlFor={id}>
        <b>{labelOf(field)}</b> <span>{field.fallback === undefined ? beside(field) : ""}</span>
      </label>
      <select
        id={id}
        className="field full-width"
        disabled={disabled}
        value={named(value ?? field.fallback ?? "")}
        onChange={(event) => onChange(field.choices.find((one) => named(one.value) === event.target.value)?.value)}
      >
        {typeof field.fallback !== "string" && <option value="">{field.required ? "" : FORM.leaveOut}</option>}
        {field.choices.map((one) => (
          <option key={named(one.value)} value={named(one.value)}>
            {one.name}
          </option>
        ))}
      </select>
      {field.description && <p className="field-help">{reveal(field.description)}</p>}
    </div>
  );
}

/** Its description without the marks of code, which the page shows as text. */
function plain(field: Field): Field {
  return { ...field, description: field.description.replaceAll("`", "") };
}

/** An object whose names are free, such as the values of a Set step. */
function isOpenObject(field: Field): boolean {
  return field.schema["type"] === "object" && !field.schema["properties"];
}

/** The arguments of the tool that the step calls, as the tool describes them. */
function ArgumentsField(props: SettingFieldProps) {
  const { field, value, settings, sources, disabled, onChange } = props;
  const tool = String(settings["tool"] ?? "");
  const known = usePages("tools", {}).data?.find((one) => one.name === tool);
  if (!known || typeof value === "string") return <PairsField {...props} />;
  return (
    <fieldset className="form-field arguments" disabled={disabled}>
      <legend className="field-label">
        <b>{labelOf(field)}</b>
      </legend>
      <SettingsForm
        schema={known.inputSchema}
        settings={asSchema(value) ?? {}}
        sources={sources}
        disabled={disabled}
        onChange={(next) => onChange(next)}
      />
    </fieldset>
  );
}

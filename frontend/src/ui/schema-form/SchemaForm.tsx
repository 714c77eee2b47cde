/** A form for the arguments that a schema describes: when an error message appears, heights of long fields, examples.
 * Kinds of fields are in `schema.ts`. */

import { useId, useState, type ReactNode } from "react";

import { reveal } from "../hidden";
import { Glyph } from "../Status";
import { Switch } from "../Switch";
import { named, type Draft, type Drafts, type Field } from "./schema";
import "./schema-form.css";
import { about, TEXT } from "./text";

interface Props {
  fields: readonly Field[];
  drafts: Drafts;
  wrong: Record<string, string>;
  /** Also show the errors of untouched fields: after an attempt to submit. */
  all: boolean;
  onChange: (drafts: Drafts) => void;
}

/** A form for the arguments that a schema describes; what is wrong with a field is said once it was left. */
export function SchemaForm({ fields, drafts, wrong, all, onChange }: Props) {
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  if (fields.length === 0) return <p className="muted text-small space-above-14">{TEXT.none}</p>;
  return (
    <div className="schema-form">
      {fields.map((field) => (
        <One
          key={field.name}
          field={field}
          draft={drafts[field.name]}
          wrong={all || left.has(field.name) ? (wrong[field.name] ?? "") : ""}
          onLeave={() => setLeft((before) => new Set([...before, field.name]))}
          onChange={(draft) => onChange({ ...drafts, [field.name]: draft })}
        />
      ))}
    </div>
  );
}

interface OneProps {
  field: Field;
  draft: Draft;
  wrong: string;
  onLeave: () => void;
  onChange: (draft: Draft) => void;
}

function One({ field, draft, wrong, onLeave, onChange }: OneProps) {
  const id = useId();
  const described = [field.description ? `${id}-about` : "", wrong ? `${id}-wrong` : ""].filter(Boolean).join(" ");
  const label = (
    <label htmlFor={id} className="field-label" id={`${id}-label`}>
      <b>{reveal(field.name)}</b> <span>{reveal(about(field))}</span>
    </label>
  );
  const help: ReactNode = field.description && (
    <p className="field-help" id={`${id}-about`}>
      {reveal(field.description)}
    </p>
  );
  if (field.kind === "switch") {
    return (
      <div className="form-field">
        <div className="row switch-field">
          <Switch
            label={field.name}
            on={draft === true || (draft === undefined && field.fallback === true)}
            onChange={onChange}
          />
          {label}
        </div>
        {help}
      </div>
    );
  }
  const shared = {
    id,
    "aria-describedby": described || undefined,
    "aria-invalid": wrong ? true : undefined,
    "aria-required": field.required || undefined,
    onBlur: onLeave,
  } as const;
  return (
    <div className="form-field">
      {label}
      <Control
        field={field}
        draft={typeof draft === "string" ? draft : ""}
        bad={wrong !== ""}
        shared={shared}
        onChange={onChange}
      />
      {wrong ? (
        <p className="field-error" id={`${id}-wrong`} role="alert">
          <Glyph shape="fail" />
          {reveal(wrong)}
        </p>
      ) : (
        help
      )}
    </div>
  );
}

interface Shared {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": true | undefined;
  "aria-required": true | undefined;
  onBlur: () => void;
}

interface ControlProps {
  field: Field;
  draft: string;
  bad: boolean;
  shared: Shared;
  onChange: (draft: string) => void;
}

function Control({ field, draft, bad, shared, onChange }: ControlProps) {
  const className = bad ? "field mono bad" : "field mono";
  if (field.kind === "choice") {
    return (
      <select {...shared} className={className} value={draft} onChange={(event) => onChange(event.target.value)}>
        {!field.required || draft === "" ? <option value="">{field.required ? "" : TEXT.leaveOut}</option> : null}
        {field.choices.map((one) => (
          <option key={named(one.value)} value={named(one.value)}>
            {reveal(one.name)}
          </option>
        ))}
      </select>
    );
  }
  if (field.kind === "list" || field.kind === "json" || field.kind === "long") {
    const rows = Math.min(12, Math.max(field.kind === "json" ? 3 : 2, draft.split("\n").length));
    return (
      <div className={`${className} tall`}>
        <textarea
          {...shared}
          rows={rows}
          spellCheck={false}
          value={draft}
          placeholder={field.kind === "json" ? skeleton(field) : ""}
          onChange={(event) => onChange(event.target.value)}
        />
      </div>
    );
  }
  const numeric = field.kind === "number" || field.kind === "integer";
  return (
    <div className={className}>
      <input
        {...shared}
        type="text"
        autoComplete="off"
        spellCheck={false}
        inputMode={numeric ? "decimal" : "text"}
        value={draft}
        placeholder={example(field)}
        onChange={(event) => onChange(event.target.value)}
      />
    </div>
  );
}

function example(field: Field): string {
  const [first] = Array.isArray(field.schema["examples"]) ? field.schema["examples"] : [];
  return first === undefined ? "" : named(first);
}

/** The keys of an object, so that one sees what to write. */
function skeleton(field: Field): string {
  const properties = field.schema["properties"];
  if (!properties || typeof properties !== "object") return field.schema["type"] === "array" ? "[ ]" : "{ }";
  return `{ ${Object.keys(properties)
    .map((key) => `"${key}": …`)
    .join(", ")} }`;
}

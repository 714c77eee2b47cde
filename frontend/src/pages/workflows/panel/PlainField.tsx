/** Text and number fields of the panel that take no references: smallest numbers, error messages. */

import { useEffect, useId, useRef, useState } from "react";

import { TEXT as FORM } from "../../../ui/schema-form/text";

interface Props {
  label: string;
  value: string;
  onChange: (value: string) => void;
  onLeave?: () => void;
  placeholder?: string;
  help?: string;
  wrong?: string;
  mono?: boolean;
  long?: boolean;
  disabled?: boolean;
}

/** A labelled field without references. */
export function PlainField(props: Props) {
  const { label, value, onChange, onLeave, placeholder = "", help = "", wrong = "", disabled = false } = props;
  const id = useId();
  const shared = {
    id,
    value,
    placeholder,
    disabled,
    "aria-invalid": wrong ? (true as const) : undefined,
    "aria-describedby": help || wrong ? `${id}-help` : undefined,
    onChange: (event: { target: { value: string } }) => onChange(event.target.value),
    onBlur: onLeave,
  };
  return (
    <div className="form-field">
      <label className="form-label" htmlFor={id}>
        {label}
      </label>
      <div className={`field${props.mono ? " mono" : ""}${props.long ? " tall" : ""}`}>
        {props.long ? (
          <textarea {...shared} rows={3} />
        ) : (
          <input {...shared} type="text" autoComplete="off" spellCheck={false} />
        )}
      </div>
      {(wrong || help) && (
        <p id={`${id}-help`} className={wrong ? "field-error" : "field-help"} role={wrong ? "alert" : undefined}>
          {wrong || help}
        </p>
      )}
    </div>
  );
}

interface NumberProps {
  label: string;
  /** Null for the default. */
  value: number | null;
  least: number;
  whole?: boolean;
  disabled?: boolean;
  onChange: (value: number | null) => void;
}

/** A number that may be left out. */
export function NumberField({ label, value, least, whole = false, disabled = false, onChange }: NumberProps) {
  const [draft, setDraft] = useState(value === null ? "" : String(value));
  const [wrong, setWrong] = useState("");
  const passed = useRef(value);
  useEffect(() => {
    if (value === passed.current) return;
    passed.current = value;
    setDraft(value === null ? "" : String(value));
    setWrong("");
  }, [value]);
  function put(text: string) {
    setDraft(text);
    const number = Number(text.trim().replace(",", "."));
    const found = text.trim() === "" ? null : number;
    const bad = found !== null && (!Number.isFinite(number) || (whole && !Number.isInteger(number)));
    const problem = bad
      ? whole
        ? FORM.wholeNumber
        : FORM.number
      : found !== null && found < least
        ? FORM.least(least)
        : "";
    setWrong(problem);
    if (problem) return;
    passed.current = found;
    onChange(found);
  }
  return <PlainField label={label} value={draft} wrong={wrong} disabled={disabled} onChange={put} />;
}

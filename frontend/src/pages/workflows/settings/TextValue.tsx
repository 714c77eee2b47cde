/** A text field of a step's setting: it keeps what is typed until it is valid, shows the error message, and takes
 * references. */

import { useEffect, useId, useRef, useState } from "react";

import { reveal } from "../../../ui/hidden";
import type { Source } from "../graph/references";
import { ReferencePicker } from "./ReferencePicker";
import type { Read } from "./values";

interface Props {
  label: string;
  about?: string;
  help?: string;
  /** The stored value as text. */
  text: string;
  read: (text: string) => Read;
  onChange: (value: unknown) => void;
  sources: readonly Source[];
  long?: boolean;
  mono?: boolean;
  placeholder?: string;
  disabled?: boolean;
  /** Without references. */
  fixed?: boolean;
  hideLabel?: boolean;
}

/** A field that keeps what is typed until it makes sense, and passes on what does. */
export function TextValue(props: Props) {
  const { label, about = "", help = "", text, read, onChange, sources, placeholder = "", disabled = false } = props;
  const id = useId();
  const [draft, setDraft] = useState(text);
  const [wrong, setWrong] = useState("");
  const passed = useRef(text);
  const field = useRef<HTMLInputElement & HTMLTextAreaElement>(null);
  useEffect(() => {
    if (text === passed.current) return; // It came from here.
    passed.current = text;
    setDraft(text);
    setWrong("");
  }, [text]);

  function put(next: string) {
    setDraft(next);
    const found = read(next);
    setWrong(found.wrong);
    if (found.wrong) return;
    passed.current = next;
    onChange(found.value);
  }
  function insert(reference: string) {
    const at = field.current?.selectionStart ?? draft.length;
    const to = field.current?.selectionEnd ?? at;
    put(`${draft.slice(0, at)}${reference}${draft.slice(to)}`);
    field.current?.focus();
  }

  const described = [help ? `${id}-help` : "", wrong ? `${id}-wrong` : ""].filter(Boolean).join(" ");
  const shared = {
    id,
    ref: field,
    value: draft,
    placeholder,
    disabled,
    spellCheck: false,
    "aria-describedby": described || undefined,
    "aria-invalid": wrong ? (true as const) : undefined,
    onChange: (event: { target: { value: string } }) => put(event.target.value),
  };
  const rows = Math.min(10, Math.max(2, draft.split("\n").length));
  return (
    <div className="form-field">
      <label className={props.hideLabel ? "visually-hidden" : "field-label"} htmlFor={id}>
        <b>{label}</b> <span>{about}</span>
      </label>
      <div className="row value-row">
        <div className={`field grow${props.mono === false ? "" : " mono"}${props.long ? " tall" : ""}`}>
          {props.long ? <textarea {...shared} rows={rows} /> : <input {...shared} type="text" autoComplete="off" />}
        </div>
        {!props.fixed && !disabled && <ReferencePicker field={label} sources={sources} onPick={insert} />}
      </div>
      {wrong ? (
        <p className="field-error" id={`${id}-wrong`} role="alert">
          {wrong}
        </p>
      ) : (
        help && (
          <p className="field-help" id={`${id}-help`}>
            {reveal(help)}
          </p>
        )
      )}
    </div>
  );
}

/** The searchable list of models: a combobox that also takes any name as it is typed. Arrows move, Enter takes. */

import { useId, useState, type KeyboardEvent } from "react";

import { matching, SHOWN, type ModelOption } from "./listing";
import "./modelField.css";
import { CHOOSE } from "./text";

interface Props {
  label: string;
  value: string;
  options: readonly ModelOption[];
  placeholder?: string;
  /** It has the focus first, its list is open, and Enter takes the best match. */
  first?: boolean;
  loading?: boolean;
  /** Why lists are missing. */
  notes?: readonly string[];
  onOpen?: () => void;
  onChange: (value: string) => void;
  /** An option was taken; else it only fills the field. */
  onTake?: (value: string) => void;
}

export function ModelField(props: Props) {
  const { label, value, options, placeholder, first = false, loading = false, notes = [], onOpen, onChange } = props;
  const { onTake = onChange } = props;
  const id = useId();
  const [open, setOpen] = useState(first);
  const [at, setAt] = useState(-1);
  const fitting = matching(options, value);
  const shown = fitting.slice(0, SHOWN);
  const isPart = first && value.trim() !== "" && !value.includes(":");
  const active = at < 0 && isPart ? 0 : at;

  function show() {
    onOpen?.();
    setOpen(true);
  }

  function take(option: ModelOption) {
    onTake(option.value);
    setAt(-1);
    setOpen(false);
  }

  function press(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const option = open ? shown[active] : undefined;
    if (step !== undefined) {
      event.preventDefault();
      show();
      const next = Math.min(Math.max(active + step, 0), shown.length - 1);
      setAt(next);
      document.getElementById(`${id}-${next}`)?.scrollIntoView({ block: "nearest" });
    } else if (event.key === "Enter" && option) {
      event.preventDefault();
      take(option);
    }
  }

  return (
    <div className="model-choice">
      <label htmlFor={id} className="muted text-small">
        {label}
      </label>
      <span className="field">
        <input
          id={id}
          {...(first && { "data-first": true })}
          role="combobox"
          aria-expanded={open && shown.length > 0}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={open && shown[active] ? `${id}-${active}` : undefined}
          autoComplete="off"
          spellCheck={false}
          placeholder={placeholder}
          value={value}
          onFocus={show}
          onClick={show}
          onChange={(event) => {
            onChange(event.target.value);
            setAt(-1);
            show();
          }}
          onKeyDown={press}
        />
      </span>
      <ul id={`${id}-list`} role="listbox" aria-label={CHOOSE.suggestions} hidden={!open || shown.length === 0}>
        {shown.map((option, place) => (
          <li
            key={option.value}
            id={`${id}-${place}`}
            role="option"
            aria-selected={place === active}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => take(option)}
          >
            <span className="model-option-name">{option.value}</span>
            <span className="muted text-small nowrap">{option.about}</span>
          </li>
        ))}
      </ul>
      {open && <State {...{ loading, notes, options, fitting, isPart }} />}
    </div>
  );
}

interface StateProps {
  loading: boolean;
  notes: readonly string[];
  options: readonly ModelOption[];
  fitting: readonly ModelOption[];
  /** What was typed is no whole name yet. */
  isPart: boolean;
}

function State({ loading, notes, options, fitting, isPart }: StateProps) {
  const lines = [...notes];
  if (loading) lines.unshift(CHOOSE.loading);
  else if (isPart && fitting.length === 0) lines.unshift(CHOOSE.whole);
  else if (options.length > 0 && fitting.length === 0) lines.unshift(CHOOSE.nothing);
  else if (options.length === 0 && notes.length === 0) lines.unshift(CHOOSE.empty);
  if (fitting.length > SHOWN) lines.unshift(CHOOSE.more(fitting.length - SHOWN));
  return (
    <div className="muted text-small" role="status">
      {lines.map((line) => (
        <p key={line} className="wrap-text">
          {line}
        </p>
      ))}
    </div>
  );
}

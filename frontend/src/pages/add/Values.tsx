/** The fields for values and secrets that a server needs: choices, "Stored as a secret", "Where do I get
 * this?". */

import { useState } from "react";

import { reveal } from "../../ui/hidden";
import type { Answers, Needed } from "./types";

interface Props {
  needed: readonly Needed[];
  answers: Answers;
  missing: readonly string[];
  onChange: (answers: Answers) => void;
}

/** The values that a server needs, as a form made from its description. */
export function Values({ needed, answers, missing, onChange }: Props) {
  if (needed.length === 0) return null;
  return (
    <div className="value-fields">
      {needed.map((one) => (
        <Value
          key={one.key}
          needed={one}
          value={answers[one.key] ?? one.default}
          bad={missing.includes(one.key)}
          onChange={(value) => onChange({ ...answers, [one.key]: value })}
        />
      ))}
    </div>
  );
}

function Value({
  needed,
  value,
  bad,
  onChange,
}: {
  needed: Needed;
  value: string;
  bad: boolean;
  onChange: (value: string) => void;
}) {
  const [asked, setAsked] = useState(false);
  const id = `value-${needed.key}`;
  return (
    <div className="value-field">
      <label htmlFor={id} className="medium">
        {reveal(needed.title)} {!needed.required && <span className="muted">optional</span>}
      </label>
      <Control id={id} needed={needed} value={value} bad={bad} onChange={onChange} />
      {needed.secret && <p className="muted text-small">Stored as a secret, never in the file.</p>}
      {bad && (
        <p className="text-small error-text" id={`${id}-bad`}>
          Required to start.
        </p>
      )}
      {needed.description && (
        <p className="text-small">
          <button
            type="button"
            className="plain-button link-button"
            aria-expanded={asked}
            onClick={() => setAsked(!asked)}
          >
            Where do I get this?
          </button>
          {asked && <span className="secondary"> {reveal(needed.description)}</span>}
        </p>
      )}
    </div>
  );
}

function Control({
  id,
  needed,
  value,
  bad,
  onChange,
}: {
  id: string;
  needed: Needed;
  value: string;
  bad: boolean;
  onChange: (value: string) => void;
}) {
  const common = { id, value, required: needed.required, "aria-invalid": bad };
  const choices = needed.kind === "boolean" && needed.choices.length === 0 ? ["true", "false"] : needed.choices;
  if (choices.length > 0) {
    return (
      <span className="field">
        <select {...common} onChange={(event) => onChange(event.target.value)}>
          {value === "" && <option value="">Choose…</option>}
          {choices.map((choice) => (
            <option key={choice} value={choice}>
              {reveal(choice)}
            </option>
          ))}
        </select>
      </span>
    );
  }
  if (needed.multiple) {
    return (
      <span className="field multiline">
        <textarea {...common} rows={2} placeholder="One per line" onChange={(event) => onChange(event.target.value)} />
      </span>
    );
  }
  return (
    <span className="field">
      <input
        {...common}
        type={needed.secret ? "password" : "text"}
        inputMode={needed.kind === "number" ? "decimal" : "text"}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => onChange(event.target.value)}
      />
    </span>
  );
}

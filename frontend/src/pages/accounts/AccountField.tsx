/** One field of an account's form: a text, a choice or a secret, with its help and error message. Fields come from the
 * provider in the host. */

import { reveal } from "../../ui/hidden";
import { Icon } from "../../ui/Icon";
import { SecretInput } from "./SecretInput";
import { FORM } from "./text";
import type { Field } from "./types";

interface Props {
  field: Field;
  problem: string;
  disabled: boolean;
  /** Its value; a secret stays in its input and is not passed. */
  value: string;
  onChange: (value: string) => void;
  input: (element: HTMLInputElement | null) => void;
}

/** One field of a provider's form: a choice, a text, or a secret that is read only when the form is sent. */
export function AccountField(props: Props) {
  const { field, problem } = props;
  const id = `account-${field.key}`;
  return (
    <div className="value-field">
      <label htmlFor={id} className="medium">
        {reveal(field.label)} {!field.required && <span className="muted">{FORM.optional}</span>}
      </label>
      <span className="field">
        <Control {...props} id={id} />
      </span>
      <div id={`${id}-help`}>
        {problem && <p className="text-small error-text">{problem}</p>}
        {field.help && <p className="muted text-small">{reveal(field.help)}</p>}
      </div>
    </div>
  );
}

function Control({ id, field, problem, disabled, value, onChange, input }: Props & { id: string }) {
  const common = {
    id,
    disabled,
    "aria-required": field.required,
    "aria-invalid": problem !== "",
    "aria-describedby": `${id}-help`,
  };
  if (field.secret) return <SecretInput common={common} file={field.key.endsWith("_file")} input={input} />;
  if (field.choices.length > 0)
    return (
      <>
        <select {...common} value={value} onChange={(event) => onChange(event.target.value)}>
          {!field.choices.includes(value) && (
            <option value={value}>{value || (field.required ? FORM.choice : FORM.automatic)}</option>
          )}
          {field.choices.map((choice) => (
            <option key={choice} value={choice}>
              {reveal(choice)}
            </option>
          ))}
        </select>
        <Icon name="down" small />
      </>
    );
  return (
    <input
      {...common}
      ref={input}
      value={value}
      autoComplete="off"
      autoCapitalize="off"
      spellCheck={false}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

/** The form of one account, made from its provider's fields: name, "Read only", which fields are folded under "More
 * settings", clearing of secrets after they were sent. */

import { useRef, useState } from "react";

import { ErrorBox } from "../../ui/ErrorBox";
import { Switch } from "../../ui/Switch";
import { StepDialog } from "../add/StepDialog";
import { AccountField } from "./AccountField";
import { fieldGroups, NAME, problemsOf, type Draft, type Problems } from "./draft";
import { FORM, formTitle, TEXT } from "./text";
import type { Field, Provider } from "./types";

interface Props {
  provider: Provider;
  draft: Draft;
  /** The names of all accounts. */
  taken: readonly string[];
  busy: boolean;
  error: unknown;
  onDraft: (draft: Draft) => void;
  /** The secrets are passed once and kept nowhere else. */
  onSubmit: (secrets: Record<string, string>) => void;
  onBack?: (() => void) | undefined;
  onClose: () => void;
}

const NAME_FIELD: Field = {
  key: NAME,
  label: FORM.name,
  help: FORM.nameHelp,
  secret: false,
  required: true,
  default: "",
  choices: [],
};

/** The form of one account, made from the fields of its provider. */
export function AccountForm({ provider, draft, taken, busy, error, onDraft, onSubmit, onBack, onClose }: Props) {
  const inputs = useRef(new Map<string, HTMLInputElement>());
  const [problems, setProblems] = useState<Problems>({});
  const [opened, setOpened] = useState(draft.replaced !== "");
  const { first: usual, more } = fieldGroups(provider.fields);
  const folded = more.length > 0 && !opened && error === null;

  function submit() {
    if (busy) return;
    const secrets = Object.fromEntries([...inputs.current].map(([key, input]) => [key, input.value]));
    const found = problemsOf(draft, secrets, provider.fields, taken);
    setProblems(found);
    if (Object.keys(found).length > 0) return;
    for (const input of inputs.current.values()) input.value = "";
    onSubmit(secrets);
  }

  const one = (field: Field) => (
    <AccountField
      key={field.key}
      field={field}
      problem={problems[field.key] ?? (field.secret && field.required && error !== null && !busy ? FORM.again : "")}
      disabled={busy}
      value={draft.values[field.key] ?? ""}
      onChange={(value) => onDraft({ ...draft, values: { ...draft.values, [field.key]: value } })}
      input={(element) => keepInput(inputs.current, field, element)}
    />
  );

  return (
    <StepDialog
      title={formTitle(provider, draft.replaced)}
      onClose={onClose}
      onSubmit={submit}
      foot={<Foot provider={provider} busy={busy} onBack={onBack} onClose={onClose} />}
    >
      {provider.about && <p className="secondary">{provider.about}</p>}
      <div className="value-fields">
        <AccountField
          field={NAME_FIELD}
          problem={problems[NAME] ?? ""}
          disabled={busy || draft.replaced !== ""}
          value={draft.name}
          onChange={(name) => onDraft({ ...draft, name })}
          input={() => undefined}
        />
        {usual.map(one)}
        <div className="row">
          <span className="grow">
            <span className="medium block">{TEXT.readOnly}</span>
            <span className="muted text-small">{FORM.readOnlyAbout}</span>
          </span>
          <Switch
            label={TEXT.readOnly}
            on={draft.readOnly}
            disabled={busy}
            onChange={(readOnly) => onDraft({ ...draft, readOnly })}
          />
        </div>
        {folded ? (
          <button type="button" className="btn bare small more-fields" onClick={() => setOpened(true)}>
            {FORM.more}
          </button>
        ) : (
          more.map(one)
        )}
      </div>
      {error !== null && !busy && (
        <div className="space-above-12" ref={showInView}>
          <ErrorBox error={error} />
        </div>
      )}
    </StepDialog>
  );
}

function showInView(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: "nearest" });
}

function keepInput(inputs: Map<string, HTMLInputElement>, field: Field, element: HTMLInputElement | null): void {
  if (element && field.secret) inputs.set(field.key, element);
  else inputs.delete(field.key);
}

interface FootProps {
  provider: Provider;
  busy: boolean;
  onBack: (() => void) | undefined;
  onClose: () => void;
}

function Foot({ provider, busy, onBack, onClose }: FootProps) {
  return (
    <>
      <span className="grow muted text-small">{FORM.stored}</span>
      <button type="button" className="btn" onClick={busy || !onBack ? onClose : onBack}>
        {busy || !onBack ? FORM.cancel : FORM.back}
      </button>
      <button type="submit" className="btn primary plan-button" disabled={busy} aria-busy={busy}>
        {busy ? FORM.saving : provider.sign_in ? FORM.signIn : FORM.save}
      </button>
    </>
  );
}

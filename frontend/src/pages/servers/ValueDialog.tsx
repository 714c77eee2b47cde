/** "Set value": stores the secrets that a server refers to and that are missing. */

import { useState } from "react";

import { run } from "../../api/client";
import { queries, useOperation } from "../../api/hooks";
import { notify } from "../../app/notices";
import { Loading } from "../../ui/Loading";
import { ErrorBox } from "../../ui/ErrorBox";
import { StepDialog } from "../add/StepDialog";
import { shortSecret } from "./text";

/** Stores the secrets that a server refers to and that are missing. */
export function ValueDialog({
  name,
  missing,
  onClose,
}: {
  name: string;
  missing: readonly string[];
  onClose: () => void;
}) {
  const { data } = useOperation("overview", {});
  const wanted = missing.length > 0 ? missing : (data?.servers.find((one) => one.name === name)?.missing ?? []);
  const [values, setValues] = useState<Record<string, string>>({});
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const ready = wanted.length > 0 && wanted.every((secret) => values[secret]);

  async function save(): Promise<void> {
    if (!ready || busy) return;
    setBusy(true);
    try {
      for (const secret of wanted) await run("secret_set", { name: secret, value: values[secret] ?? "" });
      await queries.invalidateQueries();
      notify(`Saved. Starting “${name}”.`);
      onClose();
    } catch (caught) {
      setError(caught);
      setBusy(false);
    }
  }

  return (
    <StepDialog
      title={`${name} needs a value`}
      onClose={onClose}
      onSubmit={() => void save()}
      foot={
        <>
          <span className="grow muted text-small">Stored as a secret, never in the file</span>
          <button type="button" className="btn" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="btn primary" disabled={!ready || busy}>
            Save and start
          </button>
        </>
      }
    >
      {!data && <Loading rows={1} />}
      {data && wanted.length === 0 && (
        <p className="secondary">All its secrets are set. Check its entry for anything else it needs.</p>
      )}
      <div className="value-fields">
        {wanted.map((secret) => (
          <div key={secret} className="value-field">
            <label htmlFor={`secret-${secret}`} className="medium">
              {shortSecret(name, secret)}
            </label>
            <span className="field">
              <input
                id={`secret-${secret}`}
                type="password"
                autoComplete="off"
                value={values[secret] ?? ""}
                onChange={(event) => setValues({ ...values, [secret]: event.target.value })}
              />
            </span>
          </div>
        ))}
      </div>
      {error !== null && <ErrorBox error={error} />}
    </StepDialog>
  );
}

import { useState } from "react";

import { run } from "../../api/client";
import { queries, useOperation } from "../../api/hooks";
import { notify } from "../../app/notices";
import { Loading } from "../../ui/Loading";
import { Trouble } from "../../ui/Trouble";
import { Frame } from "../add/Frame";
import { shortSecret } from "./words";

/** Gives a server the secrets that it refers to and that nobody has stored. */
export function ValueDialog({ name, missing, onClose }: { name: string; missing: readonly string[]; onClose: () => void }) {
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
      notify(`Saved. “${name}” starts with it.`);
      onClose();
    } catch (caught) {
      setError(caught);
      setBusy(false);
    }
  }

  return (
    <Frame
      title={`${name} needs a value`}
      onClose={onClose}
      onSubmit={() => void save()}
      foot={
        <>
          <span className="grow m t12">Kept where secrets are kept, never in the file</span>
          <button type="button" className="btn" onClick={onClose}>Cancel</button>
          <button type="submit" className="btn pri" disabled={!ready || busy}>Save and start</button>
        </>
      }
    >
      {!data && <Loading rows={1} />}
      {data && wanted.length === 0 && <p className="q">It has all the secrets that it refers to. What else it needs stands in its entry.</p>}
      <div className="vals">
        {wanted.map((secret) => (
          <div key={secret} className="val">
            <label htmlFor={`secret-${secret}`} className="b">{shortSecret(name, secret)}</label>
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
      {error !== null && <Trouble error={error} />}
    </Frame>
  );
}

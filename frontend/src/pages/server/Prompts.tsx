/** The tab Prompts of a server: each with a form for its arguments, and the messages that the server makes of it. No
 * model is asked. Everything shown is untrusted text of the server. */

import { useState } from "react";

import { run, type Result } from "../../api/client";
import { Copy } from "../../ui/Copy";
import { ErrorBox } from "../../ui/ErrorBox";
import { reveal } from "../../ui/hidden";
import { LongText } from "../../ui/LongText";
import { PartList } from "./PartList";
import { OFFERED } from "./text";

type Listed = Result<"prompts">[number];
type Filled = Result<"prompt_get">;

export function Prompts({ name }: { name: string }) {
  return (
    <PartList
      operation="prompts"
      name={name}
      title={OFFERED.prompts}
      empty={OFFERED.noPrompts}
      row={(one, index) => <Prompt key={`${one.name} ${index}`} server={name} listed={one} />}
    />
  );
}

function Prompt({ server, listed }: { server: string; listed: Listed }) {
  const [values, setValues] = useState<Record<string, string>>({});
  const [filled, setFilled] = useState<Filled | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const missing = listed.arguments.some((one) => one.required && !values[one.name]);

  async function get(): Promise<void> {
    setBusy(true);
    setError(null);
    const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));
    try {
      setFilled(await run("prompt_get", { name: server, prompt: listed.name, arguments: given }));
    } catch (caught) {
      setFilled(null);
      setError(caught);
    } finally {
      setBusy(false);
    }
  }

  return (
    <li>
      <form className="offered-row" onSubmit={(event) => (event.preventDefault(), void (!missing && get()))}>
        <div className="grow">
          <b className="medium">{reveal(listed.name)}</b>
          {listed.description && <p className="secondary text-small">{reveal(listed.description)}</p>}
          {listed.arguments.map((one) => (
            <label key={one.name} className="offered-argument">
              <span>
                {reveal(one.name)} {!one.required && <span className="muted">{OFFERED.optional}</span>}
              </span>
              <span className="field">
                <input
                  value={values[one.name] ?? ""}
                  required={one.required}
                  autoComplete="off"
                  onChange={(event) => setValues({ ...values, [one.name]: event.target.value })}
                />
              </span>
              {one.description && <span className="muted text-small">{reveal(one.description)}</span>}
            </label>
          ))}
        </div>
        <button type="submit" className="btn small" disabled={busy || missing}>
          {OFFERED.get}
          <span className="visually-hidden"> {listed.name}</span>
        </button>
      </form>
      <div className="offered-content" aria-live="polite">
        {error !== null && <ErrorBox error={error} />}
        {filled?.messages.length === 0 && <p className="muted">{OFFERED.empty}</p>}
        {filled?.messages.map((message, index) => (
          <section key={index} aria-label={OFFERED.message(message.role)}>
            <div className="row">
              <span className="muted text-small grow">{reveal(message.role)}</span>
              {message.text && <Copy bare only label={OFFERED.copy} text={message.text} />}
            </div>
            {message.text ? (
              <LongText text={message.text} label={OFFERED.message(message.role)} />
            ) : (
              <p className="muted">{OFFERED.notText(reveal(message.type))}</p>
            )}
          </section>
        ))}
      </div>
    </li>
  );
}

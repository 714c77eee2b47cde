/** The steps that connect one program: command, "Add it for me…", entry for its config file, connected or not. The
 * host writes the file. */

import { useState } from "react";

import { run } from "../../api/client";
import { sentence } from "../../api/errors";
import { queries, useOperation } from "../../api/hooks";
import type { ClientEntry, KnownClient } from "../../api/types";
import { notify } from "../../app/notices";
import { tilde } from "../../text/home";
import { Copy } from "../../ui/Copy";
import { Dialog } from "../../ui/Dialog";
import { Segments } from "../../ui/Segments";
import { ErrorBox } from "../../ui/ErrorBox";
import { ProfileChoice, useProfile } from "./ProfileChoice";
import { ConnectionStatus } from "./ConnectionStatus";
import { onOneLine, Snippet } from "./Snippet";
import { TEXT } from "./text";

/** What the command does: ours asks before it writes, the client's own writes at once. */
function aboutCommand(entry: ClientEntry): string {
  if (entry.needs_token) return TEXT.token;
  if (entry.command.startsWith("toolcrib ")) return TEXT.noSecret;
  return entry.form === "program" ? TEXT.noSecretOwn : TEXT.noSecretAddress;
}

/** Three steps for one client: a command, or the file, and then whether it came. */
export function ClientSteps({ client }: { client: KnownClient }) {
  const profile = useProfile();
  const [form, setForm] = useState<ClientEntry["form"]>("program");
  const entry = useOperation("client_entry", { client: client.client, profile, form }, { keepPrevious: true });
  const [trouble, setTrouble] = useState<unknown>(null);
  const [asked, setAsked] = useState(false);

  async function change(remove: boolean) {
    setTrouble(null);
    setAsked(false);
    try {
      const done = await run("client_connect", { client: client.client, profile, form, remove });
      const what = remove ? TEXT.takenOut(done.title) : `${TEXT.written(done.title)} ${done.afterwards}`;
      notify(done.written ? what : TEXT.already(done.title));
    } catch (error) {
      setTrouble(error);
    }
    void queries.invalidateQueries({ queryKey: ["clients"] });
  }

  return (
    <>
      <div className="row client-head space-below-18">
        <h2 className="text-title grow">{client.title}</h2>
        <ProfileChoice />
      </div>
      {client.problem && <ErrorBox error={new Error(client.problem)} />}
      {entry.error && <ErrorBox error={entry.error} again={() => setForm("program")} />}
      {asked && entry.data && (
        <WriteDialog
          title={client.title}
          entry={entry.data}
          onClose={() => setAsked(false)}
          onWrite={() => void change(false)}
        />
      )}
      {entry.data && (
        <ol className="connect-steps">
          <li>
            <span className="step-number">1</span>
            <div>
              <b className="bold">{TEXT.terminal}</b>
              <p className="secondary">{aboutCommand(entry.data)}</p>
              <div className="snippet">
                <pre className="code wrap">{entry.data.command}</pre>
                <Copy text={entry.data.command} />
              </div>
              <div className="row connection-choice space-above-8">
                {client.connected ? (
                  <button key="remove" type="button" className="btn small" onClick={() => void change(true)}>
                    {TEXT.remove}
                  </button>
                ) : (
                  <button
                    key="write"
                    type="button"
                    className="btn small"
                    disabled={entry.data.needs_token}
                    onClick={() => setAsked(true)}
                  >
                    {TEXT.write}
                  </button>
                )}
                <span className="grow" />
                <span className="muted text-small">{TEXT.way}</span>
                <Segments
                  label={TEXT.way}
                  value={form}
                  options={[
                    { value: "program", name: TEXT.byProgram },
                    { value: "address", name: TEXT.byAddress },
                  ]}
                  onChange={setForm}
                />
              </div>
              {trouble !== null && (
                <p className="status fail wrap-text" role="alert">
                  {sentence(trouble)}
                </p>
              )}
            </div>
          </li>
          <li>
            <span className="step-number">2</span>
            <div>
              <b className="bold">{TEXT.file}</b>
              <p className="secondary">
                <code>{tilde(entry.data.file)}</code>
              </p>
              <Snippet text={entry.data.snippet} />
            </div>
          </li>
          <li className="last-step">
            <span className="step-number">3</span>
            <div>
              <ConnectionStatus profile={profile} />
            </div>
          </li>
        </ol>
      )}
    </>
  );
}

/** Shows what would be written, and where, before anything is. */
function WriteDialog({
  title,
  entry,
  onClose,
  onWrite,
}: {
  title: string;
  entry: ClientEntry;
  onClose: () => void;
  onWrite: () => void;
}) {
  return (
    <Dialog title={TEXT.writeTitle(title)} className="page-connect" careful onClose={onClose}>
      <div className="write-dialog">
        <p className="secondary">
          <code className="break-anywhere">{tilde(entry.file)}</code>
        </p>
        <pre className="code wrap block-space">{onOneLine(entry.snippet)}</pre>
        <p className="secondary">{TEXT.writeAbout}</p>
        <div className="row space-above-14 align-end">
          <button type="button" className="btn" onClick={onClose}>
            {TEXT.cancel}
          </button>
          <button type="button" className="btn primary" onClick={onWrite}>
            {TEXT.writeNow}
          </button>
        </div>
      </div>
    </Dialog>
  );
}

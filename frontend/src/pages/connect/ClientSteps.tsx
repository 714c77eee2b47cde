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
import { Trouble } from "../../ui/Trouble";
import { ProfileChoice, useProfile } from "./ProfileChoice";
import { Seen } from "./Seen";
import { onOneLine, Snippet } from "./Snippet";
import { WORDS } from "./words";

/** What the command does: ours asks before it writes, the client's own writes at once. */
function aboutCommand(entry: ClientEntry): string {
  if (entry.needs_token) return WORDS.token;
  if (entry.command.startsWith("toolcrib ")) return WORDS.noSecret;
  return entry.form === "program" ? WORDS.noSecretOwn : WORDS.noSecretAddress;
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
      const what = remove ? WORDS.takenOut(done.title) : `${WORDS.written(done.title)} ${done.afterwards}`;
      notify(done.written ? what : WORDS.already(done.title));
    } catch (error) {
      setTrouble(error);
    }
    void queries.invalidateQueries({ queryKey: ["clients"] });
  }

  return (
    <>
      <div className="row hx" style={{ marginBottom: 18 }}>
        <h2 className="t18 grow">{client.title}</h2>
        <ProfileChoice />
      </div>
      {client.problem && <Trouble error={new Error(client.problem)} />}
      {entry.error && <Trouble error={entry.error} again={() => setForm("program")} />}
      {asked && entry.data && <WriteDialog title={client.title} entry={entry.data} onClose={() => setAsked(false)} onWrite={() => void change(false)} />}
      {entry.data && (
        <ol className="steps2">
          <li>
            <span className="n">1</span>
            <div>
              <b className="bb">{WORDS.terminal}</b>
              <p className="q">{aboutCommand(entry.data)}</p>
              <div className="snip">
                <pre className="code wrap">{entry.data.command}</pre>
                <Copy text={entry.data.command} />
              </div>
              <div className="row way" style={{ marginTop: 8 }}>
                {client.connected ? (
                  <button key="remove" type="button" className="btn sm" onClick={() => void change(true)}>
                    {WORDS.remove}
                  </button>
                ) : (
                  <button key="write" type="button" className="btn sm" disabled={entry.data.needs_token} onClick={() => setAsked(true)}>
                    {WORDS.write}
                  </button>
                )}
                <span className="grow" />
                <span className="m t12">{WORDS.way}</span>
                <Segments
                  label={WORDS.way}
                  value={form}
                  options={[
                    { value: "program", name: WORDS.byProgram },
                    { value: "address", name: WORDS.byAddress },
                  ]}
                  onChange={setForm}
                />
              </div>
              {trouble !== null && <p className="st fail" role="alert" style={{ whiteSpace: "normal" }}>{sentence(trouble)}</p>}
            </div>
          </li>
          <li>
            <span className="n">2</span>
            <div>
              <b className="bb">{WORDS.file}</b>
              <p className="q">
                <code>{tilde(entry.data.file)}</code>
              </p>
              <Snippet text={entry.data.snippet} />
            </div>
          </li>
          <li style={{ margin: 0 }}>
            <span className="n">3</span>
            <div>
              <Seen profile={profile} />
            </div>
          </li>
        </ol>
      )}
    </>
  );
}

/** Shows what would be written, and where, before anything is. */
function WriteDialog({ title, entry, onClose, onWrite }: { title: string; entry: ClientEntry; onClose: () => void; onWrite: () => void }) {
  return (
    <Dialog title={WORDS.writeTitle(title)} className="p-connect" onClose={onClose}>
      <div style={{ padding: "12px 16px 16px" }}>
        <p className="q"><code style={{ overflowWrap: "anywhere" }}>{tilde(entry.file)}</code></p>
        <pre className="code wrap" style={{ margin: "10px 0" }}>{onOneLine(entry.snippet)}</pre>
        <p className="q">{WORDS.writeAbout}</p>
        <div className="row" style={{ marginTop: 14, justifyContent: "flex-end" }}>
          <button type="button" className="btn" onClick={onClose}>{WORDS.cancel}</button>
          <button type="button" className="btn pri" onClick={onWrite}>{WORDS.writeNow}</button>
        </div>
      </div>
    </Dialog>
  );
}

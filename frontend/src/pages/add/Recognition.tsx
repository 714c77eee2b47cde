/** What was pasted, as the host recognized it: "This is …", its action, its name, and the warning about a lookalike
 * package. */

import { Glyph, Status } from "../../ui/Status";
import { reveal } from "../../ui/hidden";
import type { Recognised, RecognisedServer } from "./types";
import { INSTEAD, lookalikeText, PASTE, thisIs } from "./text";

interface Props {
  found: Recognised;
  name: string;
  onName: (name: string) => void;
  onText: (text: string) => void;
}

/** What was pasted, what becomes of it, and its name. */
export function Recognition({ found, name, onName, onText }: Props) {
  const server = found.servers[0];
  if (found.kind === "nothing") return <Nothing found={found} />;
  return (
    <dl className="recognised">
      <dt>This is</dt>
      <dd>
        {found.kind === "ambiguous" ? thisIs(found) : <Status shape="done" word={thisIs(found)} />}
        {server?.lookalike && <Lookalike server={server} onText={onText} />}
        {found.kind === "ambiguous" && <Alternatives found={found} onText={onText} />}
      </dd>
      {server && found.kind !== "ambiguous" && (
        <>
          <dt>Action</dt>
          <dd>
            <Instead server={server} />
            {server.notes.map((note) => (
              <p key={note} className="secondary">
                {reveal(note)}
              </p>
            ))}
          </dd>
          <dt>
            <label htmlFor="add-name">Name</label>
          </dt>
          <dd>
            <span className="field name-field">
              <input
                id="add-name"
                value={name}
                onChange={(event) => onName(event.target.value)}
                autoComplete="off"
                spellCheck={false}
              />
            </span>
            {server.taken && name === server.name && <p className="muted text-small">That name is already used.</p>}
          </dd>
        </>
      )}
    </dl>
  );
}

function Instead({ server }: { server: RecognisedServer }) {
  if (server.way === "connect") return <>{INSTEAD.connect}</>;
  if (server.way === "run") return <>{INSTEAD.run}</>;
  return (
    <>
      Toolcrib installs <code>{reveal(server.package || server.reference)}</code> {server.version} {INSTEAD.install}
    </>
  );
}

function Lookalike({ server, onText }: { server: RecognisedServer; onText: (text: string) => void }) {
  const near = server.lookalike;
  if (!near) return null;
  return (
    <p className="lookalike" role="alert">
      <Glyph shape="need" />
      <span>
        <code>{reveal(server.package)}</code> is {lookalikeText(near)}{" "}
        <button type="button" className="plain-button link-button" onClick={() => onText(near.reference)}>
          Use {near.name}
        </button>
      </span>
    </p>
  );
}

function Alternatives({ found, onText }: { found: Recognised; onText: (text: string) => void }) {
  return (
    <div className="examples">
      {found.alternatives.map((text) => (
        <button key={text} type="button" className="tag mono" onClick={() => onText(text)}>
          {reveal(text)}
        </button>
      ))}
    </div>
  );
}

function Nothing({ found }: { found: Recognised }) {
  return (
    <p className="secondary space-above-12" role="status">
      {PASTE.nothing}{" "}
      <span className="muted">
        {reveal(found.problem)} {reveal(found.hint)}
      </span>
    </p>
  );
}

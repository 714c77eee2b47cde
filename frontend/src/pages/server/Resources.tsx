/** The tab Resources of a server: its resources and templates of addresses, and what one contains (text, a picture).
 * Everything shown is untrusted text of the server. */

import { useId, useState } from "react";

import { run, type Result } from "../../api/client";
import { bytes } from "../../ui/amounts";
import { ErrorBox } from "../../ui/ErrorBox";
import { reveal } from "../../ui/hidden";
import { LongText } from "../../ui/LongText";
import { PartList } from "./PartList";
import { OFFERED } from "./text";

type Listed = Result<"resources">[number];
type Content = Result<"resource_read">["contents"][number];

export function Resources({ name }: { name: string }) {
  return (
    <PartList
      operation="resources"
      name={name}
      title={OFFERED.resources}
      empty={OFFERED.noResources}
      row={(one, index) => <Resource key={`${one.uri} ${index}`} server={name} listed={one} />}
    />
  );
}

function Resource({ server, listed }: { server: string; listed: Listed }) {
  const isTemplate = listed.kind === "template";
  const [uri, setUri] = useState(listed.uri);
  const [found, setFound] = useState<Content[] | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const id = useId();
  const open = found !== null || error !== null;

  async function read(): Promise<void> {
    setBusy(true);
    setError(null);
    try {
      setFound((await run("resource_read", { name: server, uri })).contents);
    } catch (caught) {
      setFound(null);
      setError(caught);
    } finally {
      setBusy(false);
    }
  }

  return (
    <li>
      <form className="offered-row" onSubmit={(event) => (event.preventDefault(), void read())}>
        <div className="grow">
          <b className="medium">{reveal(listed.name || listed.uri)}</b>{" "}
          <span className="muted text-small">
            {[
              isTemplate ? OFFERED.template : "",
              reveal(listed.mime_type),
              listed.size === null ? "" : bytes(listed.size),
            ]
              .filter(Boolean)
              .join(" · ")}
          </span>
          {isTemplate ? (
            <span className="field mono">
              <input
                aria-label={OFFERED.address(listed.name || listed.uri)}
                value={uri}
                spellCheck={false}
                onChange={(event) => setUri(event.target.value)}
              />
            </span>
          ) : (
            <p>
              <code className="muted text-small">{reveal(listed.uri)}</code>
            </p>
          )}
          {listed.description && <p className="secondary text-small">{reveal(listed.description)}</p>}
        </div>
        {open && !isTemplate && (
          <button type="button" className="btn small" onClick={() => (setFound(null), setError(null))}>
            {OFFERED.close}
          </button>
        )}
        <button type="submit" className="btn small" disabled={busy} aria-controls={id} aria-expanded={open}>
          {busy ? OFFERED.reading : OFFERED.read}
          <span className="visually-hidden"> {listed.name || listed.uri}</span>
        </button>
      </form>
      <div id={id} className="offered-content">
        {error !== null && <ErrorBox error={error} />}
        {found?.length === 0 && <p className="muted">{OFFERED.empty}</p>}
        {found?.map((content, index) => (
          <Shown key={index} content={content} />
        ))}
      </div>
    </li>
  );
}

function Shown({ content }: { content: Content }) {
  const { text, picture, mime_type: type, size } = content;
  const label = content.uri || OFFERED.resource;
  if (text !== null) return <LongText text={text} label={label} {...(content.cut ? { total: size } : {})} />;
  if (picture !== null) return <img className="offered-picture" src={`data:${type};base64,${picture}`} alt={label} />;
  return <p className="muted">{OFFERED.notShown(reveal(type), bytes(size))}</p>;
}

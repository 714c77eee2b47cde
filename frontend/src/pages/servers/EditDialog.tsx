import { useEffect, useRef, useState } from "react";

import { run } from "../../api/client";
import { ApiError } from "../../api/errors";
import { queries, useOperation } from "../../api/hooks";
import { notify } from "../../app/notices";
import { clock, plural } from "../../ui/amounts";
import { Difference } from "../../ui/Difference";
import { Loading } from "../../ui/Loading";
import { Trouble } from "../../ui/Trouble";
import { Frame } from "../add/Frame";

/** An entry as text; unknown keys stay, and what somebody else wrote meanwhile is not lost. */
export function EditDialog({ name, onClose, onReview }: { name: string; onClose: () => void; onReview: () => void }) {
  const { data, error, isFetching, refetch } = useOperation("entry", { name });
  const field = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useState<string | null>(null);
  const [digest, setDigest] = useState("");
  const [failure, setFailure] = useState<unknown>(null);
  const [theirs, setTheirs] = useState<{ text: string; digest: string } | null>(null);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    if (!data || isFetching || text !== null) return;
    setText(data.text);
    setDigest(data.digest);
  }, [data, isFetching, text]);

  async function save(over: string): Promise<void> {
    if (text === null || busy) return;
    setBusy(true);
    setFailure(null);
    try {
      const written = await run("entry_edit", { name, text, digest: over });
      await queries.invalidateQueries();
      notify(`Saved “${name}”.`);
      if (written.needs_trust) onReview();
      else onClose();
    } catch (caught) {
      setFailure(caught);
    } finally {
      setBusy(false);
    }
  }

  async function showBoth(): Promise<void> {
    const now = await run("entry", { name });
    setTheirs({ text: now.text, digest: now.digest });
  }

  const conflict = failure instanceof ApiError && failure.kind === "conflict" ? failure : null;
  return (
    <Frame
      title={`Edit ${name}`}
      first={field}
      onClose={onClose}
      onSubmit={() => void save(theirs?.digest ?? digest)}
      foot={
        <>
          <span className="grow m t12">{data && data.unknown.length > 0 ? `${plural(data.unknown.length, "key")} we do not know ${data.unknown.length === 1 ? "is" : "are"} kept.` : "A change of command asks for trust"}</span>
          <button type="button" className="btn" onClick={onClose}>Cancel</button>
          <button type="submit" className="btn pri" disabled={text === null || busy || text === data?.text}>Save</button>
        </>
      }
    >
      {!data && !error && <Loading rows={4} height={36} />}
      {error && <Trouble error={error} again={() => void refetch()} />}
      {data && <p className="m t12" style={{ marginBottom: 6 }}>{data.file}, line {data.line}</p>}
      {text !== null && (
        <textarea ref={field} className="paste" aria-label={`Entry of ${name}`} value={text} rows={Math.min(22, text.split("\n").length + 1)} spellCheck={false} onChange={(event) => setText(event.target.value)} />
      )}
      {conflict && (
        <div className="trouble" role="alert">
          <p><b>Could not save.</b> {conflictWords(conflict)}</p>
          <div className="row" style={{ marginTop: 8 }}>
            <button type="button" className="btn sm" onClick={() => void showBoth()}>Show both</button>
            {theirs && <button type="button" className="btn sm" onClick={() => void save(theirs.digest)}>Save mine</button>}
            {theirs && <button type="button" className="btn sm" onClick={() => (setText(theirs.text), setDigest(theirs.digest), setTheirs(null), setFailure(null))}>Take theirs</button>}
          </div>
        </div>
      )}
      {theirs && text !== null && conflict && <Difference before={theirs.text} after={text} />}
      {failure !== null && !conflict && <Trouble error={failure} />}
    </Frame>
  );
}

/** "The file was changed by someone else at 09:40." */
function conflictWords(error: ApiError): string {
  const data = error.details.data;
  const when = data && typeof data === "object" && "changed" in data ? String(data.changed) : "";
  return when ? `The file was changed by someone else at ${clock(when)}.` : error.message;
}

/** "Edit as JSON": the entry of a server as text, and the choice between both versions if the file was changed
 * meanwhile. Unknown keys are kept. */

import { useEffect, useState } from "react";

import { run } from "../../api/client";
import { ApiError } from "../../api/errors";
import { queries, useOperation } from "../../api/hooks";
import { notify } from "../../app/notices";
import { clock } from "../../ui/amounts";
import { Difference } from "../../ui/Difference";
import { Loading } from "../../ui/Loading";
import { ErrorBox } from "../../ui/ErrorBox";
import { StepDialog } from "../add/StepDialog";
import { unknownKeysText } from "../server/text";

/** An entry as text; unknown keys and concurrent edits are kept. */
export function EditDialog({ name, onClose, onReview }: { name: string; onClose: () => void; onReview: () => void }) {
  const { data, error, isFetching, refetch } = useOperation("entry", { name });
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
    <StepDialog
      title={`Edit ${name}`}
      onClose={onClose}
      onSubmit={() => void save(theirs?.digest ?? digest)}
      foot={
        <>
          <span className="grow muted text-small">
            {data && data.unknown.length > 0
              ? unknownKeysText(data.unknown.length)
              : "Changing the command requires trust again"}
          </span>
          <button type="button" className="btn" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="btn primary" disabled={text === null || busy || text === data?.text}>
            Save
          </button>
        </>
      }
    >
      {!data && !error && <Loading rows={4} height={36} />}
      {error && <ErrorBox error={error} again={() => void refetch()} />}
      {data && (
        <p className="muted text-small space-below-6">
          {data.file}, line {data.line}
        </p>
      )}
      {text !== null && (
        <textarea
          className="paste-field"
          aria-label={`Entry of ${name}`}
          value={text}
          rows={Math.min(22, text.split("\n").length + 1)}
          spellCheck={false}
          onChange={(event) => setText(event.target.value)}
        />
      )}
      {conflict && (
        <div className="error-box" role="alert">
          <p>
            <b>Could not save.</b> {conflictText(conflict)}
          </p>
          <div className="row space-above-8">
            <button type="button" className="btn small" onClick={() => void showBoth()}>
              Show both
            </button>
            {theirs && (
              <button type="button" className="btn small" onClick={() => void save(theirs.digest)}>
                Save mine
              </button>
            )}
            {theirs && (
              <button
                type="button"
                className="btn small"
                onClick={() => (setText(theirs.text), setDigest(theirs.digest), setTheirs(null), setFailure(null))}
              >
                Use theirs
              </button>
            )}
          </div>
        </div>
      )}
      {theirs && text !== null && conflict && <Difference before={theirs.text} after={text} />}
      {failure !== null && !conflict && <ErrorBox error={failure} />}
    </StepDialog>
  );
}

/** "The file was changed by someone else at 09:40." */
function conflictText(error: ApiError): string {
  const data = error.details.data;
  const when = data && typeof data === "object" && "changed" in data ? String(data.changed) : "";
  return when ? `The file was changed by someone else at ${clock(when)}.` : error.message;
}

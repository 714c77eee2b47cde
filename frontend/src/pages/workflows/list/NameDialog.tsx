/** Asks for the name of a new, copied or imported workflow and saves it; error messages of the name. Allowed names are
 * in `workflowActions.ts`. */

import { useState, type FormEvent } from "react";

import { run } from "../../../api/client";
import { ApiError, sentence } from "../../../api/errors";
import type { WorkflowReview } from "../../../api/types";
import { Dialog } from "../../../ui/Dialog";
import { CREATE } from "../text/list";
import { createWorkflow, nameFrom } from "./workflowActions";

interface Props {
  title: string;
  /** What the workflow begins as; null for an empty one. */
  file: Record<string, unknown> | null;
  suggested: string;
  /** Called with what the workflow does, if it was made elsewhere. */
  onImported?: (review: WorkflowReview) => void;
  onClose: () => void;
  onCreated: (name: string) => void;
}

/** Asks for the name of a new workflow and saves it. */
export function NameDialog({ title, file, suggested, onImported, onClose, onCreated }: Props) {
  const [typed, setTyped] = useState(suggested);
  const name = nameFrom(typed);
  const [wrong, setWrong] = useState("");
  const [busy, setBusy] = useState(false);

  async function create(event: FormEvent) {
    event.preventDefault();
    if (name === "") return setWrong(CREATE.shape);
    setBusy(true);
    try {
      if (onImported) return onImported(await run("workflow_import", { text: JSON.stringify(file), name }));
      await createWorkflow(name, file);
      onCreated(name);
    } catch (error) {
      setWrong(error instanceof ApiError && error.kind === "conflict" ? CREATE.taken : sentence(error));
      setBusy(false);
    }
  }

  return (
    <Dialog title={title} onClose={onClose}>
      <form className="dialog-form" onSubmit={(event) => void create(event)}>
        <div>
          <label className="form-label" htmlFor="workflow-name">
            {CREATE.name}
          </label>
          <div className="field">
            <input
              id="workflow-name"
              value={typed}
              maxLength={64}
              autoComplete="off"
              spellCheck={false}
              aria-invalid={wrong !== "" || undefined}
              aria-describedby="workflow-name-help"
              onChange={(event) => {
                setTyped(event.target.value);
                setWrong("");
              }}
            />
          </div>
          <p
            id="workflow-name-help"
            className={wrong ? "error-text text-small space-above-4" : "muted text-small space-above-4"}
            role={wrong ? "alert" : undefined}
          >
            {wrong || (name && name !== typed ? CREATE.becomes(name) : CREATE.nameAbout)}
          </p>
        </div>
        <div className="row align-end">
          <button type="submit" className="btn primary" disabled={busy || typed.trim() === ""}>
            {CREATE.create}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

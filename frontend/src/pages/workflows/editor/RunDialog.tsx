/** The dialog that starts a run: form of the inputs, saving first, review of an imported workflow. Typed values are
 * kept until a reload. */

import { useMemo, useState, type FormEvent } from "react";

import { run } from "../../../api/client";
import { refreshSoon } from "../../../api/hooks";
import type { WorkflowReview } from "../../../api/types";
import { Dialog } from "../../../ui/Dialog";
import { ErrorBox } from "../../../ui/ErrorBox";
import { draftOf, readDrafts } from "../../../ui/schema-form/drafts";
import { fieldsOf, type Drafts } from "../../../ui/schema-form/schema";
import { SchemaForm } from "../../../ui/schema-form/SchemaForm";
import type { Graph } from "../graph/file";
import { Review } from "../Review";
import { REVIEW, START } from "../text/editor";
import type { EditorControls } from "./state";
import type { Saving } from "./useSaving";

/** What was typed last for each workflow, until the page is reloaded. */
const typed = new Map<string, Drafts>();

interface Props {
  editor: EditorControls;
  saving: Saving;
  onClose: () => void;
  onRun: (run: string) => void;
}

/** Asks for the inputs and starts a run of the workflow as it is drawn. */
export function RunDialog({ editor, saving, onClose, onRun }: Props) {
  const { graph } = editor;
  const fields = useMemo(() => fieldsOf(inputSchema(graph)), [graph]);
  const [drafts, setDrafts] = useState<Drafts>(
    () =>
      typed.get(graph.name) ?? Object.fromEntries(fields.map((field) => [field.name, draftOf(field, field.fallback)])),
  );
  const [tried, setTried] = useState(false);
  const [busy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState<unknown>(null);
  const [reviewed, setReviewed] = useState<WorkflowReview | null>(null);
  const { values, wrong } = readDrafts(fields, drafts);

  async function start(event: FormEvent) {
    event.preventDefault();
    setTried(true);
    if (Object.keys(wrong).length > 0) return;
    setBusy(true);
    setTrouble(null);
    try {
      if (!(await saving.save())) return onClose();
      const review = await run("workflow_review", { name: graph.name });
      if (!review.confirmed && review.version !== reviewed?.version) return setReviewed(review);
      if (!review.confirmed) await run("workflow_confirm", { name: graph.name, version: review.version });
      const breakpoints = [...editor.now().breakpoints];
      const started = await run("workflow_run", { name: graph.name, inputs: values, breakpoints, detach: true });
      refreshSoon("workflow_runs");
      onClose();
      onRun(started.run);
    } catch (error) {
      setTrouble(error);
    } finally {
      setBusy(false);
    }
  }

  return (
    <Dialog title={START.title(graph.name)} onClose={onClose}>
      <form className="dialog-form" noValidate onSubmit={(event) => void start(event)}>
        {fields.length === 0 ? (
          <p className="secondary">{START.none}</p>
        ) : (
          <SchemaForm
            fields={fields}
            drafts={drafts}
            wrong={wrong}
            all={tried}
            onChange={(next) => {
              typed.set(graph.name, next);
              setDrafts(next);
            }}
          />
        )}
        {reviewed && <Review does={reviewed.does} />}
        {trouble !== null && <ErrorBox error={trouble} />}
        <div className="row align-end">
          <button type="submit" className="btn primary" disabled={busy}>
            {reviewed ? REVIEW.confirm : START.run}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function inputSchema(graph: Graph): Record<string, unknown> {
  const entries = Object.entries(graph.inputs);
  const properties = entries.map(([name, one]) => [
    name,
    {
      type: one.type,
      description: one.description,
      ...(one.default === null ? {} : { default: one.default }),
      ...(one.choices.length > 0 ? { enum: one.choices } : {}),
    },
  ]);
  return {
    type: "object",
    properties: Object.fromEntries(properties) as Record<string, unknown>,
    required: entries.filter(([, one]) => one.required && one.default === null).map(([name]) => name),
  };
}

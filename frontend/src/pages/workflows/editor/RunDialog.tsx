/** The dialog before a run: form of the inputs, review of an imported workflow. Typed values are kept until a
 * reload. */

import { useMemo, useState, type FormEvent } from "react";

import { Dialog } from "../../../ui/Dialog";
import { ErrorBox } from "../../../ui/ErrorBox";
import { draftOf, readDrafts } from "../../../ui/schema-form/drafts";
import { fieldsOf, type Drafts } from "../../../ui/schema-form/schema";
import { SchemaForm } from "../../../ui/schema-form/SchemaForm";
import type { Graph } from "../graph/file";
import { Review } from "../Review";
import { REVIEW, START } from "../text/editor";
import type { Starting } from "./useStart";

/** What was typed last for each workflow, until the page is reloaded. */
const typed = new Map<string, Drafts>();

interface Props {
  graph: Graph;
  starting: Starting;
  onClose: () => void;
}

/** Asks for the inputs, and shows what a workflow does that was made elsewhere. */
export function RunDialog({ graph, starting, onClose }: Props) {
  const { busy, trouble, review } = starting;
  const fields = useMemo(() => fieldsOf(inputSchema(graph)), [graph]);
  const [drafts, setDrafts] = useState<Drafts>(
    () =>
      typed.get(graph.name) ?? Object.fromEntries(fields.map((field) => [field.name, draftOf(field, field.fallback)])),
  );
  const [tried, setTried] = useState(false);
  const { values, wrong } = readDrafts(fields, drafts);

  function start(event: FormEvent) {
    event.preventDefault();
    setTried(true);
    if (Object.keys(wrong).length === 0) void starting.start(values);
  }

  return (
    <Dialog title={START.title(graph.name)} onClose={onClose}>
      <form className="dialog-form" noValidate onSubmit={start}>
        {fields.length > 0 && (
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
        {review && <Review does={review.does} />}
        {trouble !== null && <ErrorBox error={trouble} />}
        <div className="row align-end">
          <button type="submit" className="btn primary start-button" disabled={busy}>
            {busy ? START.starting : review ? REVIEW.confirm : START.run}
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

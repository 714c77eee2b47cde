/** Describing a workflow or a change in words: longest request, the draft and its doubts. The host drafts it with a
 * model. */

import { useRef, useState, type FormEvent } from "react";

import { run } from "../../../api/client";
import { ErrorBox } from "../../../ui/ErrorBox";
import { emptyGraph, fileOf, readGraph, type Graph } from "../graph/file";
import { PLAN } from "../text/list";
import { DraftChanges } from "./DraftChanges";

interface Props {
  /** The workflow to change; null for a new one. */
  current: Graph | null;
  onTake: (graph: Graph) => void;
}

/** A request in words, the draft that a model made of it, its doubts, and what it would change. */
export function PlanForm({ current, onTake }: Props) {
  const [request, setRequest] = useState("");
  const [busy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState<unknown>(null);
  const [draft, setDraft] = useState<{ graph: Graph; doubts: string[] } | null>(null);
  const leaving = useRef<AbortController | null>(null);

  async function plan(event: FormEvent) {
    event.preventDefault();
    leaving.current?.abort();
    const signal = (leaving.current = new AbortController()).signal;
    setBusy(true);
    setTrouble(null);
    setDraft(null);
    try {
      const params = { request, ...(current ? { current: fileOf(current) } : {}) };
      const planned = await run("workflow_plan", params, signal);
      setDraft({ graph: readGraph(planned.workflow), doubts: planned.doubts.map((one) => one.message) });
    } catch (error) {
      if (!signal.aborted) setTrouble(error);
    } finally {
      setBusy(false);
    }
  }

  return (
    <form className="dialog-form" onSubmit={(event) => void plan(event)}>
      <div>
        <label className="form-label" htmlFor="plan-request">
          {PLAN.field}
        </label>
        <div className="field tall">
          <textarea
            id="plan-request"
            rows={4}
            maxLength={8000}
            placeholder={current ? PLAN.changePlaceholder : PLAN.placeholder}
            value={request}
            onChange={(event) => setRequest(event.target.value)}
          />
        </div>
      </div>
      {trouble !== null && <ErrorBox error={trouble} />}
      {draft && (
        <DraftChanges before={current ?? emptyGraph(draft.graph.name)} after={draft.graph} doubts={draft.doubts} />
      )}
      <div className="row align-end">
        <button type="submit" className={draft ? "btn" : "btn primary"} disabled={busy || request.trim() === ""}>
          {busy ? PLAN.drafting : draft ? PLAN.again : PLAN.draft}
        </button>
        {draft && (
          <button type="button" className="btn primary" onClick={() => onTake(draft.graph)}>
            {PLAN.take}
          </button>
        )}
      </div>
    </form>
  );
}

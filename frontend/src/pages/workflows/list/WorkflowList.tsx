/** The Workflows page with its list: filter, buttons, runs fetched, dialogs for new workflows, and links such as
 * `?new=plan`. */

import { useEffect, useState } from "react";

import { ApiError } from "../../../api/errors";
import { useOperation } from "../../../api/hooks";
import type { WorkflowReview } from "../../../api/types";
import { navigate, setSearch, useSearch } from "../../../app/router";
import { takeDraft } from "../../../app/workflowDraft";
import { Dialog } from "../../../ui/Dialog";
import { ErrorBox } from "../../../ui/ErrorBox";
import { Icon } from "../../../ui/Icon";
import { Loading } from "../../../ui/Loading";
import { readGraph } from "../graph/file";
import { Review } from "../Review";
import { REVIEW } from "../text/editor";
import { CREATE, LIST } from "../text/list";
import type { Begin } from "./begin";
import { ChatDraft } from "./ChatDraft";
import { Empty } from "./Empty";
import { NameDialog } from "./NameDialog";
import { NewPlan } from "./NewPlan";
import { rowsOf } from "./rows";
import { TemplatesDialog } from "./TemplatesDialog";
import { useNextStarts } from "./useNextStarts";
import { chooseFile } from "./useImport";
import { WorkflowTable } from "./WorkflowTable";

const RUNS = 14;
const WAITING = 1000;

export function WorkflowList() {
  const { data, error, refetch } = useOperation("workflow_list", {});
  const { data: runs } = useOperation("workflow_runs", { each: RUNS, limit: WAITING });
  const next = useNextStarts();
  const [begin, setBegin] = useBegin();
  const [words, setWords] = useState("");
  const missing = error instanceof ApiError && error.featureMissing;
  const rows = rowsOf(data ?? [], runs?.runs ?? [], next, words);
  const waiting = (runs?.runs ?? []).filter((run) => run.state === "waiting").length;
  const importing = () =>
    chooseFile({
      onTaken: (file) =>
        setBegin({
          what: "name",
          title: CREATE.chooseFile,
          file,
          suggested: `${String(file["name"] ?? "")}-2`,
          imported: true,
        }),
      onImported: (review) => afterImport(review, setBegin),
    });
  return (
    <div className="page">
      <div className="page-head">
        <div className="grow">
          <h1>{LIST.title}</h1>
          <p>{data && data.length > 0 ? LIST.summary(data.length, waiting) : ""}</p>
        </div>
        {!missing && (
          <>
            <button type="button" className="btn hide-narrow" onClick={importing}>
              {LIST.import}
            </button>
            <button type="button" className="btn hide-narrow" onClick={() => setBegin({ what: "templates" })}>
              {LIST.templates}
            </button>
            <button type="button" className="btn hide-narrow" onClick={() => setBegin({ what: "plan" })}>
              {LIST.plan}
            </button>
            <button type="button" className="btn primary" onClick={() => setBegin({ what: "blank" })}>
              <Icon name="plus" small />
              {LIST.create}
            </button>
          </>
        )}
      </div>
      {error && <ErrorBox error={error} again={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data?.length === 0 && <Empty onBegin={setBegin} onImport={importing} />}
      {data && data.length > 0 && (
        <>
          <label className="field workflow-filter">
            <Icon name="search" small />
            <input
              data-search
              placeholder={LIST.filter}
              aria-label={LIST.filter}
              value={words}
              onChange={(event) => setWords(event.target.value)}
            />
          </label>
          <WorkflowTable
            rows={rows}
            onDuplicate={(file, name) =>
              setBegin({ what: "name", title: CREATE.copy, file, suggested: `${name}-2`.slice(0, 64) })
            }
          />
          {rows.length === 0 && <p className="empty">{LIST.nothing(words)}</p>}
        </>
      )}
      <Dialogs begin={begin} onBegin={setBegin} />
    </div>
  );
}

function open(name: string): void {
  navigate(`/workflows/${encodeURIComponent(name)}`);
}

/** Say what a workflow does that was made elsewhere. */
function afterImport(review: WorkflowReview, onBegin: (begin: Begin | null) => void): void {
  if (review.confirmed) open(review.name);
  else onBegin({ what: "imported", review });
}

function Dialogs({ begin, onBegin }: { begin: Begin | null; onBegin: (begin: Begin | null) => void }) {
  const close = () => onBegin(null);
  if (begin?.what === "blank")
    return <NameDialog title={CREATE.title} file={null} suggested="" onClose={close} onCreated={open} />;
  if (begin?.what === "name")
    return (
      <NameDialog
        title={begin.title}
        file={begin.file}
        suggested={begin.suggested}
        {...(begin.imported ? { onImported: (review) => afterImport(review, onBegin) } : {})}
        onClose={close}
        onCreated={open}
      />
    );
  if (begin?.what === "imported")
    return (
      <Dialog title={LIST.imported(begin.review.name)} onClose={close}>
        <Review does={begin.review.does} />
        <div className="row align-end">
          <button type="button" className="btn primary" onClick={() => open(begin.review.name)}>
            {REVIEW.open}
          </button>
        </div>
      </Dialog>
    );
  if (begin?.what === "templates")
    return (
      <TemplatesDialog
        onClose={close}
        onUse={(template) =>
          onBegin({
            what: "name",
            title: CREATE.template,
            file: { ...template.workflow },
            suggested: template.name,
          })
        }
      />
    );
  if (begin?.what === "draft")
    return <ChatDraft graph={begin.graph} doubts={begin.doubts} onClose={close} onBegin={onBegin} />;
  if (begin?.what === "plan") return <NewPlan onClose={close} onBegin={onBegin} />;
  return null;
}

/** The address may ask for a way to begin, as the palette does. */
function useBegin(): [Begin | null, (begin: Begin | null) => void] {
  const [begin, setBegin] = useState<Begin | null>(null);
  const asked = useSearch().get("new");
  useEffect(() => {
    if (asked === null) return;
    const draft = asked === "draft" ? takeDraft() : null;
    if (draft) setBegin({ what: "draft", graph: readGraph(draft.workflow), doubts: draft.doubts });
    else if (asked !== "draft") setBegin({ what: asked === "plan" || asked === "templates" ? asked : "blank" });
    setSearch({ new: null });
  }, [asked]);
  return [begin, setBegin];
}

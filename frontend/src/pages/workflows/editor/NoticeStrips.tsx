/** Strips above the steps: changed elsewhere, a shown run, and the problems of the workflow with how many are listed
 * at first. The host finds the problems. */

import { useState } from "react";

import type { RunShown, WorkflowProblem } from "../../../api/types";
import { reveal } from "../../../ui/hidden";
import { Glyph } from "../../../ui/Status";
import { nameOf } from "../graph/file";
import { shortRun } from "./Bar";
import { BAR, CONFLICT, PROBLEMS } from "../text/editor";
import type { EditorControls } from "./state";
import type { Saving } from "./useSaving";
import type { Open } from "./views";

interface Props {
  editor: EditorControls;
  saving: Saving;
  run: RunShown | undefined;
  frozen: boolean;
  problems: readonly WorkflowProblem[];
  onGo: (id: string) => void;
  onOpen: (open: Open) => void;
}

/** What has to be known about the workflow as a whole, above its steps. */
export function NoticeStrips({ editor, saving, run, frozen, problems, onGo, onOpen }: Props) {
  return (
    <>
      {saving.conflict && (
        <div className="workflow-strip failed" role="alert">
          <span className="grow">{CONFLICT.strip}</span>
          <button type="button" className="btn small" onClick={() => onOpen({ what: "conflict" })}>
            {CONFLICT.show}
          </button>
        </div>
      )}
      {frozen && run && <p className="workflow-strip secondary">{BAR.shownRun(shortRun(run.run))}</p>}
      {!run && problems.length > 0 && <Problems editor={editor} problems={problems} onGo={onGo} />}
    </>
  );
}

const SHOWN = 4;

function Problems({ editor, problems, onGo }: Pick<Props, "editor" | "problems" | "onGo">) {
  const [all, setAll] = useState(false);
  const shown = all ? problems : problems.slice(0, SHOWN);
  return (
    <section className="workflow-problems" aria-label={PROBLEMS.title(problems.length)}>
      <ul>
        {shown.map((problem, index) => (
          <li key={index}>
            <Glyph shape={problem.warning ? "retry" : "fail"} />
            <span className="grow">
              {problem.node && editor.graph.nodes[problem.node] && (
                <b className="medium">{reveal(nameOf(editor.graph, problem.node))}: </b>
              )}
              {reveal(problem.message)}
            </span>
            {problem.node !== null && editor.graph.nodes[problem.node] && (
              <button
                type="button"
                className="plain-button link-button nowrap"
                onClick={() => onGo(problem.node as string)}
              >
                {PROBLEMS.go}
              </button>
            )}
          </li>
        ))}
      </ul>
      {problems.length > SHOWN && (
        <button type="button" className="plain-button link-button" onClick={() => setAll(!all)}>
          {all ? PROBLEMS.fewer : PROBLEMS.all(problems.length)}
        </button>
      )}
    </section>
  );
}

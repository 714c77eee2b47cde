/** The Workflows page: the list, or the editor with the runs of one; which live events fetch it again. */

import { refreshOn } from "../../api/hooks";
import { useRest } from "../../app/router";
import { deferred } from "../../ui/deferred";
import "./page.css";

const isInside = location.pathname.split("/").length > 2;
const Editor = deferred(() => import("./editor/Editor").then((module) => module.Editor), undefined, isInside);
const WorkflowList = deferred(
  () => import("./list/WorkflowList").then((module) => module.WorkflowList),
  undefined,
  !isInside,
);

refreshOn("run", "workflow_show", "workflow_runs", "workflow_step", "workflow_triggers", "waiting");
refreshOn("workflow", "workflow_list", "workflow_get", "workflow_versions");

/** All workflows, or the editor and the runs of one. */
export default function WorkflowsPage() {
  const [name] = useRest();
  return name === undefined ? <WorkflowList /> : <Editor key={name} name={name} />;
}

/** Loads one workflow, its step types and the run to show, then opens the editor. */

import { useMemo } from "react";

import { useOperation } from "../../../api/hooks";
import { useSearch } from "../../../app/router";
import { useTopTitle } from "../../../app/title";
import { ErrorBox } from "../../../ui/ErrorBox";
import { Loading } from "../../../ui/Loading";
import { readGraph } from "../graph/file";
import { placed } from "../graph/layout";
import { useRun } from "../runs/useRun";
import { EditorView } from "./EditorView";
import { useKinds } from "./kinds";
import "./editor.css";

/** One workflow: its steps, their settings, and its runs. */
export function Editor({ name }: { name: string }) {
  const stored = useOperation("workflow_get", { name });
  const { kinds, error: kindsError, refetch } = useKinds();
  const search = useSearch();
  const run = useRun(search.get("run"));
  useTopTitle(name);
  const graph = useMemo(() => (stored.data ? placed(readGraph(stored.data.workflow)) : null), [stored.data]);
  const error = (stored.data ? null : stored.error) ?? kindsError;
  if (error)
    return (
      <div className="page">
        <h1>{name}</h1>
        <div className="space-above-16">
          <ErrorBox error={error} again={() => void Promise.all([stored.refetch(), refetch()])} />
        </div>
      </div>
    );
  if (!graph || !kinds || !stored.data)
    return (
      <div className="page">
        <h1 className="visually-hidden">{name}</h1>
        <Loading />
      </div>
    );
  return (
    <EditorView
      kinds={kinds}
      stored={graph}
      version={stored.data.version}
      problems={stored.data.problems}
      run={run.data}
      runError={run.error}
    />
  );
}

/** Saving a workflow with a check that nothing else changed it meanwhile; what happens in a conflict. */

import { useCallback, useEffect, useMemo, useRef, useState } from "react";

import { run } from "../../../api/client";
import { ApiError, sentence } from "../../../api/errors";
import { queries, refreshSoon } from "../../../api/hooks";
import type { WorkflowShown } from "../../../api/types";
import { notify } from "../../../app/notices";
import { sameFile } from "../graph/changes";
import { fileOf, readGraph, type Graph } from "../graph/file";
import { placed } from "../graph/layout";
import { BAR } from "../text/editor";
import { isDirty, type EditorControls } from "./state";

export interface Stored {
  graph: Graph;
  version: string;
}

export interface Saving {
  busy: boolean;
  /** What is stored, if it is not what this draft was made from. */
  conflict: Stored | null;
  /** Whether it is stored now. */
  save: () => Promise<boolean>;
  saveMine: () => Promise<boolean>;
  takeTheirs: () => void;
}

/** `version` is that of the stored workflow as the page last heard of it. */
export function useSaving(editor: EditorControls, version: string): Saving {
  const [busy, setBusy] = useState(false);
  const [conflict, setConflict] = useState<Stored | null>(null);
  const { now, load, markStored } = editor;
  const last = useRef<Promise<unknown>>(Promise.resolve());
  useEffect(() => {
    // Read here, not from what was drawn: after a save the older version is still drawn for a moment.
    const stored = knownStored(now().stored.name);
    if (busy || !stored || stored.version === now().version) return;
    if (!isDirty(now()) || sameFile(stored.graph, now().history.present)) load(stored.graph, stored.version);
    else setConflict(stored);
  }, [version, busy, now, load]);

  const put = useCallback(
    async (expected: string): Promise<boolean> => {
      const graph = now().history.present;
      setBusy(true);
      try {
        const shown = await run("workflow_save", { workflow: fileOf(graph), expected_version: expected });
        await queries.cancelQueries({ queryKey: keyOf(graph.name) }); // It may bring the version before this one.
        queries.setQueryData(keyOf(graph.name), shown);
        refreshSoon("workflow_list", "workflow_get");
        markStored(graph, shown.version);
        setConflict(null);
        notify(BAR.saved);
        return true;
      } catch (error) {
        if (error instanceof ApiError && error.kind === "conflict") setConflict(await fetchStored(graph.name));
        else notify(sentence(error));
        return false;
      } finally {
        setBusy(false);
      }
    },
    [now, markStored],
  );

  // One after another: a second save would be refused for the version that the first is about to store.
  const save = useCallback((): Promise<boolean> => {
    const turn = last.current.then(() => (isDirty(now()) ? put(now().version) : true));
    last.current = turn.catch(() => undefined);
    return turn;
  }, [now, put]);

  return useMemo(
    () => ({
      busy,
      conflict,
      save,
      saveMine: () => put(conflict?.version ?? now().version),
      takeTheirs: () => {
        if (conflict) load(conflict.graph, conflict.version);
        setConflict(null);
      },
    }),
    [busy, conflict, save, put, now, load],
  );
}

const keyOf = (name: string) => ["workflow_get", { name }];

function knownStored(name: string): Stored | null {
  const shown = queries.getQueryData<WorkflowShown>(keyOf(name));
  return shown ? storedIn(shown) : null;
}

async function fetchStored(name: string): Promise<Stored> {
  return storedIn(await run("workflow_get", { name }));
}

function storedIn(shown: WorkflowShown): Stored {
  return { graph: placed(readGraph(shown.workflow)), version: shown.version };
}

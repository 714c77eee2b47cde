/** Earlier versions of a workflow: what changed since, and restoring one. The host decides how many are kept. */

import { useState } from "react";

import { useOperation } from "../../../api/hooks";
import { notify } from "../../../app/notices";
import { dayAndTime } from "../../../ui/amounts";
import { Dialog } from "../../../ui/Dialog";
import { Difference } from "../../../ui/Difference";
import { ErrorBox } from "../../../ui/ErrorBox";
import { Loading } from "../../../ui/Loading";
import { readGraph } from "../graph/file";
import { placed } from "../graph/layout";
import { VERSIONS } from "../text/editor";
import type { EditorControls } from "./state";
import { fileText } from "./fileText";

export function VersionsDialog({ editor, onClose }: { editor: EditorControls; onClose: () => void }) {
  const { name } = editor.graph;
  const { data, error } = useOperation("workflow_versions", { name });
  const [open, setOpen] = useState<string | null>(null);
  return (
    <Dialog title={VERSIONS.title} className="wide" onClose={onClose}>
      <div className="dialog-body">
        {error && <ErrorBox error={error} />}
        {!data && !error && <Loading rows={3} />}
        <ul className="version-list">
          {data?.map((version) => (
            <li key={version.version}>
              <div className="row">
                <span className="grow num">
                  {dayAndTime(version.saved)}
                  {version.current && <span className="muted"> · {VERSIONS.current}</span>}
                </span>
                {!version.current && (
                  <button
                    type="button"
                    className="btn small"
                    aria-expanded={open === version.version}
                    onClick={() => setOpen(open === version.version ? null : version.version)}
                  >
                    {VERSIONS.show}
                  </button>
                )}
              </div>
              {open === version.version && (
                <Old editor={editor} version={version.version} saved={version.saved} onClose={onClose} />
              )}
            </li>
          ))}
        </ul>
        {data && data.length < 2 && <p className="secondary space-above-8">{VERSIONS.none}</p>}
      </div>
    </Dialog>
  );
}

interface OldProps {
  editor: EditorControls;
  version: string;
  saved: string;
  onClose: () => void;
}

function Old({ editor, version, saved, onClose }: OldProps) {
  const { data, error } = useOperation("workflow_get", { name: editor.graph.name, version });
  if (error) return <ErrorBox error={error} />;
  if (!data) return <Loading rows={2} />;
  const old = placed(readGraph(data.workflow));
  return (
    <div className="space-above-8">
      <Difference before={fileText(old)} after={fileText(editor.graph)} />
      <button
        type="button"
        className="btn small space-above-8"
        onClick={() => {
          editor.change(() => old);
          notify(VERSIONS.restored(dayAndTime(saved)), editor.undo);
          onClose();
        }}
      >
        {VERSIONS.restore}
      </button>
    </div>
  );
}

/** Which dialog of the editor is open, and the choice between both versions if the workflow was changed elsewhere. */

import { navigate } from "../../../app/router";
import { Dialog } from "../../../ui/Dialog";
import { Difference } from "../../../ui/Difference";
import { fileOf } from "../graph/file";
import { placed } from "../graph/layout";
import type { Kinds } from "../graph/kinds";
import { NameDialog } from "../list/NameDialog";
import { CONFLICT } from "../text/editor";
import { CREATE, PLAN } from "../text/list";
import { AddDialog } from "./AddDialog";
import { ConnectDialog } from "./ConnectDialog";
import { fileText } from "./fileText";
import { PlanForm } from "./PlanForm";
import { RunDialog } from "./RunDialog";
import { ScheduleDialog } from "./ScheduleDialog";
import type { EditorControls } from "./state";
import type { Saving } from "./useSaving";
import type { Starting } from "./useStart";
import { VersionsDialog } from "./VersionsDialog";
import type { Open } from "./views";

interface Props {
  open: Open | null;
  editor: EditorControls;
  kinds: Kinds;
  saving: Saving;
  starting: Starting;
  onClose: () => void;
}

export function EditorDialogs({ open, editor, kinds, saving, starting, onClose }: Props) {
  const { graph } = editor;
  switch (open?.what) {
    case "run":
      return <RunDialog {...{ graph, starting, onClose }} />;
    case "add":
      return <AddDialog {...{ editor, kinds, onClose }} />;
    case "connect":
      return <ConnectDialog {...{ editor, kinds, onClose }} />;
    case "conflict":
      return saving.conflict ? <Conflict {...{ editor, saving, onClose }} /> : null;
    case "versions":
      return <VersionsDialog editor={editor} onClose={onClose} />;
    case "schedule":
      return <ScheduleDialog editor={editor} saving={saving} onClose={onClose} />;
    case "duplicate":
      return (
        <NameDialog
          title={CREATE.copy}
          file={fileOf(graph)}
          suggested={`${graph.name}-2`.slice(0, 64)}
          onClose={onClose}
          onCreated={(name) => navigate(`/workflows/${encodeURIComponent(name)}`)}
        />
      );
    case "plan":
      return (
        <Dialog title={PLAN.changeTitle} className="wide" onClose={onClose}>
          <PlanForm
            current={graph}
            onTake={(draft) => {
              editor.change(() => placed({ ...draft, name: graph.name }));
              onClose();
            }}
          />
        </Dialog>
      );
    default:
      return null;
  }
}

function Conflict({ editor, saving, onClose }: { editor: EditorControls; saving: Saving; onClose: () => void }) {
  const theirs = saving.conflict?.graph ?? editor.graph;
  return (
    <Dialog title={CONFLICT.title} about={CONFLICT.about} className="wide conflict-dialog" onClose={onClose}>
      <div className="dialog-form">
        <Difference before={fileText(theirs)} after={fileText(editor.graph)} />
        <div className="row align-end">
          <button
            type="button"
            className="btn"
            onClick={() => {
              saving.takeTheirs();
              onClose();
            }}
          >
            {CONFLICT.theirs}
          </button>
          <button
            type="button"
            className="btn primary"
            disabled={saving.busy}
            onClick={() => void saving.saveMine().then((done) => done && onClose())}
          >
            {CONFLICT.mine}
          </button>
        </div>
      </div>
    </Dialog>
  );
}

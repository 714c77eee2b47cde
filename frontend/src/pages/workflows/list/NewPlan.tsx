/** The dialog "Describe a workflow": a new workflow from a sentence. */

import { Dialog } from "../../../ui/Dialog";
import { PlanForm } from "../editor/PlanForm";
import { fileOf } from "../graph/file";
import { CREATE, PLAN } from "../text/list";
import type { Begin } from "./begin";

/** A new workflow from a sentence: the draft is looked at before it has a name. */
export function NewPlan({ onClose, onBegin }: { onClose: () => void; onBegin: (begin: Begin) => void }) {
  return (
    <Dialog title={PLAN.title} className="wide" onClose={onClose}>
      <PlanForm
        current={null}
        onTake={(graph) => onBegin({ what: "name", title: CREATE.title, file: fileOf(graph), suggested: graph.name })}
      />
    </Dialog>
  );
}

/** The dialog after "Save as workflow" in a chat: the steps that the host made of it, before it has a name. */

import { Dialog } from "../../../ui/Dialog";
import { DraftChanges } from "../editor/DraftChanges";
import { emptyGraph, fileOf, type Graph } from "../graph/file";
import { CREATE, PLAN } from "../text/list";
import type { Begin } from "./begin";

interface Props {
  graph: Graph;
  doubts: readonly string[];
  onClose: () => void;
  onBegin: (begin: Begin) => void;
}

/** A workflow that was made from a chat, before it has a name. */
export function ChatDraft({ graph, doubts, onClose, onBegin }: Props) {
  const take = () => onBegin({ what: "name", title: CREATE.title, file: fileOf(graph), suggested: graph.name });
  return (
    <Dialog title={CREATE.fromChat} className="wide" onClose={onClose}>
      <div className="dialog-form">
        <DraftChanges before={emptyGraph(graph.name)} after={graph} doubts={doubts} />
        <div className="row align-end">
          <button type="button" className="btn" onClick={onClose}>
            {PLAN.discard}
          </button>
          <button type="button" className="btn primary" onClick={take}>
            {PLAN.take}
          </button>
        </div>
      </div>
    </Dialog>
  );
}

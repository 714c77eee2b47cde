/** What a draft would change (steps added, removed, changed), and what the host assumed when it made it ("Please
 * check"). */

import { reveal } from "../../../ui/hidden";
import { changesBetween, isEmpty, type Changes } from "../graph/changes";
import { nameOf, type Graph } from "../graph/file";
import { PLAN } from "../text/list";
import { useKinds } from "./kinds";

interface Props {
  before: Graph;
  after: Graph;
  doubts: readonly string[];
}

/** What a draft would change, and what was assumed when it was made. */
export function DraftChanges({ before, after, doubts }: Props) {
  const changes = changesBetween(before, after);
  return (
    <section className="plan-draft" role="status">
      {doubts.length > 0 && (
        <>
          <h3>{PLAN.doubts}</h3>
          <ul className="plan-doubts">
            {doubts.map((doubt, index) => (
              <li key={index}>{reveal(doubt)}</li>
            ))}
          </ul>
        </>
      )}
      {isEmpty(changes) ? (
        <p className="secondary">{PLAN.unchanged}</p>
      ) : (
        <Changed before={before} after={after} changes={changes} />
      )}
    </section>
  );
}

function Changed({ before, after, changes }: { before: Graph; after: Graph; changes: Changes }) {
  const groups = [
    { title: PLAN.added, className: "diff-added", sign: "+", graph: after, ids: changes.added },
    { title: PLAN.removed, className: "diff-removed", sign: "−", graph: before, ids: changes.removed },
    { title: PLAN.changed, className: "diff-context", sign: "~", graph: after, ids: changes.changed },
  ];
  const { added, removed } = changes.edges;
  const { kinds } = useKinds();
  const titleOf = (type: string) => kinds?.get(type)?.title ?? "";
  return (
    <div className="code wrap plan-changes">
      {groups.flatMap(({ title, className, sign, graph, ids }) =>
        ids.map((id) => (
          <span key={`${title} ${id}`} className={className}>
            <span className="visually-hidden">{title}: </span>
            {sign} {reveal(nameOf(graph, id))} <span className="code-key">{titleOf(graph.nodes[id]?.type ?? "")}</span>
          </span>
        )),
      )}
      {added.length + removed.length > 0 && (
        <span className="diff-context">
          {added.length > 0 && `+ ${PLAN.connections(added.length)} `}
          {removed.length > 0 && `− ${PLAN.connections(removed.length)}`}
        </span>
      )}
      {changes.parts.length > 0 && <span className="diff-context">~ {changes.parts.join(", ")}</span>}
    </div>
  );
}

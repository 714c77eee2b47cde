"""Start and End nodes, which a workflow does not need: a path begins and ends by itself."""

from __future__ import annotations

from toolcrib.features.workflows.planner.catalog import PlannerCatalog, folded
from toolcrib.features.workflows.planner.draft import PlannedNode, WorkflowDraft

_STARTS = frozenset({"start", "begin", "entry", "trigger", "manualtrigger", "startnode"})
_ENDS = frozenset({"end", "stop", "finish", "exit", "done", "output", "return", "endnode"})


def apply(draft: WorkflowDraft, catalog: PlannerCatalog) -> None:
    for node in draft.new_nodes():
        if node.type not in catalog.types and _is_superfluous(draft, node):
            draft.remove_node(node.id)
            draft.doubt(
                None, f"The node {node.id!r} of type {node.type[:80]!r} was left out; it does nothing."
            )


def _is_superfluous(draft: WorkflowDraft, node: PlannedNode) -> bool:
    if folded(node.type) in _STARTS:
        return not draft.edges_to(node.id) and len(draft.edges_from(node.id)) <= 1
    return folded(node.type) in _ENDS and not draft.edges_from(node.id)

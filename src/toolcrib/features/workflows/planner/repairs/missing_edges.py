"""A missing edge in a chain: added only if there is exactly one place where it can be."""

from __future__ import annotations

import re
from itertools import pairwise

from toolcrib.features.workflows.planner.catalog import PlannerCatalog
from toolcrib.features.workflows.planner.draft import PlannedNode, WorkflowDraft, texts_in
from toolcrib.schema.workflows import NEXT

_ERROR = re.compile(r"\{\{\s*\w+\.error\b")


def apply(draft: WorkflowDraft, catalog: PlannerCatalog) -> None:
    if not draft.edges and _is_list(draft, catalog):
        _chain(draft)
    else:
        _bridge(draft, catalog)


def _is_list(draft: WorkflowDraft, catalog: PlannerCatalog) -> bool:
    """Whether the nodes can be meant as a list of steps: all are new, and none branches or repeats."""
    if len(draft.nodes) < 2 or draft.kept:
        return False
    return all(catalog.outputs(node) == (NEXT,) and not _handles_error(node) for node in draft.nodes.values())


def _handles_error(node: PlannedNode) -> bool:
    """Whether a node uses the error of another, so that it belongs to the output `error`."""
    return any(_ERROR.search(text) for text in texts_in(node.settings))


def _chain(draft: WorkflowDraft) -> None:
    names = list(draft.nodes)
    for source, target in pairwise(names):
        draft.add_edge(source, target)
    draft.doubt(None, "The plan had no edges; its nodes run in the order in which they were written.")


def _bridge(draft: WorkflowDraft, catalog: PlannerCatalog) -> None:
    """Connect the only other beginning to the only loose end before it."""
    known = [edge for edge in draft.edges if {edge.source, edge.target} <= set(draft.nodes)]
    entered = {edge.target for edge in known}
    beginnings = [name for name in draft.nodes if name not in entered]
    if len(beginnings) != 2:
        return
    first, second = beginnings
    if _handles_error(draft.nodes[second]):
        return
    ends = [node.id for node in draft.nodes.values() if _is_loose_end(draft, catalog, node)]
    ends = [name for name in ends if name in draft.reached(first) and name not in draft.reached(second)]
    if len(ends) == 1 and not _has_free_branch(draft, catalog) and _is_in_order(draft, ends[0], second):
        draft.add_edge(ends[0], second)
        draft.doubt(ends[0], f"The edge from {ends[0]} to {second} was missing.")


def _is_loose_end(draft: WorkflowDraft, catalog: PlannerCatalog, node: PlannedNode) -> bool:
    return NEXT in catalog.outputs(node) and not draft.edges_from(node.id, NEXT)


def _has_free_branch(draft: WorkflowDraft, catalog: PlannerCatalog) -> bool:
    """Whether the second part could also belong to an output of a branch that leads nowhere."""
    branches = [node for node in draft.nodes.values() if catalog.flow(node) == "branch"]
    return any(not draft.edges_from(node.id, output) for node in branches for output in catalog.outputs(node))


def _is_in_order(draft: WorkflowDraft, end: str, beginning: str) -> bool:
    """Nodes are written in their order, except those that are added to a workflow."""
    names = list(draft.nodes)
    return bool(draft.kept) or names.index(end) < names.index(beginning)

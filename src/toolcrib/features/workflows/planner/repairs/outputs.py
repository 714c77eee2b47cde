"""The names of outputs on edges: synonyms, spellings, and names that were left out."""

from __future__ import annotations

from difflib import get_close_matches

from toolcrib.features.workflows.planner.catalog import PlannerCatalog, folded
from toolcrib.features.workflows.planner.draft import PlannedEdge, PlannedNode, WorkflowDraft
from toolcrib.schema.workflows import ERROR, NEXT

_SYNONYMS = {
    "true": ("yes", "then", "iftrue", "ontrue", "if", "match", "matched"),
    "false": ("no", "else", "iffalse", "onfalse", "otherwise"),
    "body": ("loopbody", "loop", "iterate", "each", "item", "do", "repeat"),
    "done": ("loopdone", "exit", "after", "end", "complete", "completed", "finished"),
    "default": ("else", "otherwise", "switchdefault", "other"),
    ERROR: ("failure", "failed", "fail", "onerror", "catch", "exception"),
    NEXT: ("success", "ok", "out", "output", "result", "then", "default", "onsuccess"),
}


def apply(draft: WorkflowDraft, catalog: PlannerCatalog) -> None:
    for edge in draft.edges:
        source = draft.nodes.get(edge.source)
        if source is not None and catalog.flow(source) != "end":
            _name(draft, edge, source, catalog.outputs(source))


def _name(draft: WorkflowDraft, edge: PlannedEdge, source: PlannedNode, outputs: tuple[str, ...]) -> None:
    if edge.output in (*outputs, ERROR):
        return
    found = _meant(edge.output, (*outputs, ERROR)) or _left_over(draft, edge, outputs)
    if found is None:
        return  # Validation reports it, or the rule for loops finds out which one it is.
    draft.doubt(source.id, f"The output {edge.output[:80]!r} is read as {found!r}.")
    edge.output = found


def _meant(given: str, outputs: tuple[str, ...]) -> str | None:
    """The output of another spelling or name; None unless there is exactly one."""
    name = folded(given)
    same = [output for output in outputs if folded(output) == name]
    named = same or [output for output in outputs if name in _SYNONYMS.get(output, ())]
    near = named or [
        output for output in outputs if output in get_close_matches(given, outputs, n=2, cutoff=0.8)
    ]
    return near[0] if len(near) == 1 else None


def _left_over(draft: WorkflowDraft, edge: PlannedEdge, outputs: tuple[str, ...]) -> str | None:
    """The only output of an ordinary node, or the second of two if the first has its edge."""
    others = [other for other in draft.edges_from(edge.source) if other is not edge]
    free = [output for output in outputs if all(other.output != output for other in others)]
    if len(outputs) == 1:
        return free[0] if free else None
    unnamed = edge.output == NEXT and all(other.output in (*outputs, ERROR) for other in others)
    return free[0] if unnamed and others and len(free) == 1 else None

"""Repairs the edges of a draft, once its nodes have their ids, types and settings: words that mean an output
(yes, else, done), bodies of loops, missing edges.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from itertools import pairwise

from toolcrib.features.workflows.planner.catalog import PlannerCatalog, folded
from toolcrib.features.workflows.planner.draft import (
    PlannedEdge,
    PlannedNode,
    WorkflowDraft,
    free_id,
    texts_in,
)
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
BODY, DONE = "body", "done"
_ERROR = re.compile(r"\{\{\s*\w+\.error\b")


def name_outputs(draft: WorkflowDraft, catalog: PlannerCatalog) -> None:
    """The names of outputs on edges: synonyms, spellings, and names that were left out."""
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


def close_bodies(draft: WorkflowDraft, catalog: PlannerCatalog) -> None:
    """Bodies of loops and maps: edges back to the start, missing end nodes, and what follows them."""
    openers = [node for node in draft.nodes.values() if catalog.flow(node) in ("loop", "map")]
    _name_owners(draft, catalog, openers)
    for opener in openers:
        end = _end_of(draft, opener)
        end = _close(draft, catalog, opener, end)
        _name_body_outputs(draft, opener, end)
        if end is not None:
            _continue_after(draft, opener, end)
    for opener in reversed(openers):  # Inner bodies come later in most answers.
        _close_loose_ends(draft, catalog, opener)


def _key(opener: PlannedNode) -> str:
    """The setting of the end node that names its start."""
    return opener.type.lower()


def _end_type(opener: PlannedNode) -> str:
    return f"End{opener.type}"


def _end_of(draft: WorkflowDraft, opener: PlannedNode) -> PlannedNode | None:
    ends = draft.of_type(_end_type(opener))
    return next((end for end in ends if end.settings.get(_key(opener)) == opener.id), None)


def _name_owners(draft: WorkflowDraft, catalog: PlannerCatalog, openers: list[PlannedNode]) -> None:
    """An end node that does not name its start belongs to the only start without an end."""
    for end in [node for node in draft.new_nodes() if catalog.flow(node) == "end"]:
        kind = end.type.removeprefix("End")
        free = [opener for opener in openers if opener.type == kind and _end_of(draft, opener) is None]
        if end.settings.get(kind.lower()) is None and len(free) == 1:
            end.settings[kind.lower()] = free[0].id
            draft.doubt(end.id, f"It is the end of {free[0].id}, the only {kind} without one.")


def _close(
    draft: WorkflowDraft, catalog: PlannerCatalog, opener: PlannedNode, end: PlannedNode | None
) -> PlannedNode | None:
    """Edges from the body back to its start lead to the end node; it is added if it is missing."""
    inside = _body(draft, opener)
    back = [edge for edge in draft.edges_to(opener.id) if edge.source in inside]
    for edge in [candidate for candidate in back if end is not None and candidate.source == end.id]:
        draft.edges.remove(edge)
        back.remove(edge)
        draft.doubt(
            edge.source, f"The edge back to {opener.id} was left out: {opener.type} repeats by itself."
        )
    if end is None and (back or _ends_alone(draft, catalog, opener)):
        end = _add_end(draft, opener)
    for edge in back:
        if end is not None:
            edge.target = end.id
            draft.doubt(edge.source, f"The edge back to {opener.id} leads to {end.id}.")
    return end


def _body(draft: WorkflowDraft, opener: PlannedNode) -> set[str]:
    starts = [edge.target for edge in draft.edges_from(opener.id) if edge.output != DONE]
    return {node for start in starts for node in draft.reached(start, without=frozenset({opener.id}))}


def _ends_alone(draft: WorkflowDraft, catalog: PlannerCatalog, opener: PlannedNode) -> bool:
    """Whether the body has no end node but cannot be confused with what follows: `done` leads elsewhere."""
    after, bodies = draft.edges_from(opener.id, DONE), draft.edges_from(opener.id, BODY)
    if not bodies:
        return False
    inside = draft.reached(bodies[0].target, without=frozenset({opener.id}))
    if not after:
        return len(inside) == 1  # One node that is repeated, and nothing afterwards.
    return not inside & draft.reached(after[0].target, without=frozenset({opener.id}))


def _add_end(draft: WorkflowDraft, opener: PlannedNode) -> PlannedNode:
    name = free_id(f"end_{opener.id}"[:64], draft.nodes)
    end = PlannedNode(id=name, type=_end_type(opener), settings={_key(opener): opener.id})
    draft.nodes[name] = end
    draft.doubt(name, f"{_end_type(opener)} was missing; it was added at the end of the body of {opener.id}.")
    return end


def _name_body_outputs(draft: WorkflowDraft, opener: PlannedNode, end: PlannedNode | None) -> None:
    """Of two edges without names, the one that leads to the end node is the body."""
    edges = draft.edges_from(opener.id)
    unnamed = [edge for edge in edges if edge.output not in (BODY, DONE, ERROR)]
    if end is None or not unnamed:
        return
    for edge in unnamed:
        leads_to_end = end.id in draft.reached(edge.target, without=frozenset({opener.id}))
        name = BODY if leads_to_end else DONE
        if not draft.edges_from(opener.id, name):
            draft.doubt(opener.id, f"The edge to {edge.target} is read as its output {name!r}.")
            edge.output = name


def _continue_after(draft: WorkflowDraft, opener: PlannedNode, end: PlannedNode) -> None:
    """What follows the end node follows the output `done` of its start."""
    for edge in draft.edges_from(end.id):
        if draft.edges_from(opener.id, DONE) and draft.edges_from(opener.id, DONE)[0].target != edge.target:
            continue  # Two different nodes would follow: the model has to say which one.
        draft.edges.remove(edge)
        if not draft.edges_from(opener.id, DONE):
            draft.add_edge(opener.id, edge.target, DONE)
        draft.doubt(end.id, f"{edge.target} follows {opener.id} when it is done, not {end.id}.")


def _close_loose_ends(draft: WorkflowDraft, catalog: PlannerCatalog, opener: PlannedNode) -> None:
    """Outputs in the body without an edge lead to its end node."""
    end = _end_of(draft, opener)
    bodies = draft.edges_from(opener.id, BODY)
    if end is None or not bodies:
        return
    inside = draft.reached(bodies[0].target, without=frozenset({opener.id, end.id}))
    if inside & {edge.target for edge in draft.edges_from(opener.id, DONE)}:
        return
    for name in sorted(inside, key=list(draft.nodes).index):
        node = draft.nodes[name]
        if catalog.flow(node) == "end":
            continue
        for output in catalog.outputs(node):
            if output != BODY and not draft.edges_from(name, output):
                draft.edges.append(PlannedEdge(source=name, target=end.id, output=output))
                _note(draft, name, output, end.id)


def _note(draft: WorkflowDraft, name: str, output: str, end: str) -> None:
    which = "It" if output == NEXT else f"Its output {output!r}"
    draft.doubt(name, f"{which} had no edge inside the body; it leads to {end}.")


def add_missing_edges(draft: WorkflowDraft, catalog: PlannerCatalog) -> None:
    """A missing edge in a chain: added only if there is exactly one place where it can be."""
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

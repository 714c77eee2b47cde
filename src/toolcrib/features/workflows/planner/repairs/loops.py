"""Bodies of loops and maps: edges back to the start, missing end nodes, and what follows after the body."""

from __future__ import annotations

from toolcrib.features.workflows.planner.catalog import PlannerCatalog
from toolcrib.features.workflows.planner.draft import PlannedEdge, PlannedNode, WorkflowDraft
from toolcrib.schema.workflows import ERROR, NEXT

BODY, DONE = "body", "done"


def apply(draft: WorkflowDraft, catalog: PlannerCatalog) -> None:
    openers = [node for node in draft.nodes.values() if catalog.flow(node) in ("loop", "map")]
    _name_owners(draft, catalog, openers)
    for opener in openers:
        end = _end_of(draft, opener)
        end = _close(draft, catalog, opener, end)
        _name_outputs(draft, opener, end)
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
    name = draft.free_id(f"end_{opener.id}"[:64])
    end = PlannedNode(id=name, type=_end_type(opener), settings={_key(opener): opener.id})
    draft.nodes[name] = end
    draft.doubt(name, f"{_end_type(opener)} was missing; it was added at the end of the body of {opener.id}.")
    return end


def _name_outputs(draft: WorkflowDraft, opener: PlannedNode, end: PlannedNode | None) -> None:
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

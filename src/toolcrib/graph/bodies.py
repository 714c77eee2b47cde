"""The bodies of loops and maps: which nodes belong to them, and that they are closed; with the messages about
edges that leave or enter a body.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from toolcrib.graph.topology import DraftNode, Topology
from toolcrib.schema.workflows import ERROR, Workflow, WorkflowProblem

BODY = "body"


@dataclass
class Bodies:
    nodes: dict[str, frozenset[str]] = field(default_factory=dict)
    """The nodes of each body, by the id of its loop or map."""
    ends: dict[str, str] = field(default_factory=dict)
    """The end node of each loop or map."""
    owners: dict[str, str] = field(default_factory=dict)
    """The innermost loop or map whose body a node is in."""

    def around(self, node: str) -> tuple[str, ...]:
        """All loops and maps whose bodies a node is in, innermost first."""
        found = list[str]()
        while (owner := self.owners.get(node)) is not None and owner not in found:
            found.append(owner)
            node = owner
        return tuple(found)


def read_bodies(
    topology: Topology, drafts: Mapping[str, DraftNode], workflow: Workflow
) -> tuple[Bodies, list[WorkflowProblem]]:
    bodies = Bodies()
    problems = _pair(bodies, drafts, workflow)
    for opener, end in bodies.ends.items():
        start = topology.targets.get((opener, BODY))
        if start is None:
            message = "The output `body` has no edge."
            problems.append(
                WorkflowProblem(
                    node=opener, message=message, hint=f"Connect it to the first step up to {end}."
                )
            )
            continue
        bodies.nodes[opener] = _between(topology, bodies, opener, start, end)
        if end not in bodies.nodes[opener]:
            message = f"The output `body` does not lead to {end}."
            problems.append(
                WorkflowProblem(node=opener, message=message, hint="Connect the last step of the body to it.")
            )
    _set_owners(bodies)
    return bodies, [*problems, *_open_edges(topology, bodies, drafts)]


def _pair(bodies: Bodies, drafts: Mapping[str, DraftNode], workflow: Workflow) -> list[WorkflowProblem]:
    problems = []
    for id_, draft in drafts.items():
        opener = draft.closes
        if opener is None or _is_reported(opener, draft, drafts, workflow):
            continue
        wrong = _pair_problem(draft, opener, drafts, bodies)
        if wrong is None:
            bodies.ends[opener] = id_
        else:
            problems.append(wrong)
    for id_, draft in drafts.items():
        if draft.type.flow in ("loop", "map") and id_ not in bodies.ends:
            kind = f"End{draft.type.name}"
            message = f"There is no {kind} for this {draft.type.name}."
            problems.append(
                WorkflowProblem(node=id_, message=message, hint="Add one at the end of its body.")
            )
    return problems


def _is_reported(opener: str, end: DraftNode, drafts: Mapping[str, DraftNode], workflow: Workflow) -> bool:
    """Whether the loop or map is there and only its settings are wrong, which is a problem of its own."""
    node = workflow.nodes.get(opener)
    return opener not in drafts and node is not None and f"End{node.type}" == end.type.name


def _pair_problem(
    end: DraftNode, opener: str, drafts: Mapping[str, DraftNode], bodies: Bodies
) -> WorkflowProblem | None:
    kind = end.type.name.removeprefix("End")
    found = drafts.get(opener)
    if found is None or found.type.name != kind:
        known = [id_ for id_, draft in drafts.items() if draft.type.name == kind]
        hint = f"{kind} nodes: {', '.join(known[:10])}." if known else f"Add a {kind}."
        return WorkflowProblem(node=end.id, message=f"{opener!r} is not a {kind}.", hint=hint)
    if opener in bodies.ends:
        message = f"{opener} already ends at {bodies.ends[opener]}."
        return WorkflowProblem(
            node=end.id, message=message, hint=f"A {kind} has one end; join the paths before it."
        )
    return None


def _between(topology: Topology, bodies: Bodies, opener: str, start: str, end: str) -> frozenset[str]:
    """The nodes on paths from the start to the end; the ends of inner loops lead back to their loops."""

    def after(node: str) -> Iterable[str]:
        return topology.following.get(node, {}).values()

    def before(node: str) -> Iterable[str]:
        inner_end = bodies.ends.get(node)
        return [*topology.preceding.get(node, ()), *([inner_end] if inner_end else [])]

    return _reach(start, opener, after) & _reach(end, opener, before)


def _reach(start: str, stop: str, neighbours: Callable[[str], Iterable[str]]) -> frozenset[str]:
    seen, left = {start}, [start]
    while left:
        for node in neighbours(left.pop()):
            if node not in seen and node != stop:
                seen.add(node)
                left.append(node)
    return frozenset(seen)


def _set_owners(bodies: Bodies) -> None:
    """The smallest body that a node is in is the innermost."""
    for opener, nodes in sorted(bodies.nodes.items(), key=lambda item: -len(item[1])):
        for node in nodes:
            bodies.owners[node] = opener


def _open_edges(
    topology: Topology, bodies: Bodies, drafts: Mapping[str, DraftNode]
) -> Iterator[WorkflowProblem]:
    for (source, output), target in topology.targets.items():
        if source in drafts and drafts[source].type.flow == "end":
            continue  # that it has an edge at all is reported already
        inside, outside = set(bodies.around(source)), set(bodies.around(target))
        for opener in sorted(outside - inside):
            if (source, output) != (opener, BODY):
                message = f"The edge to {target} leads into the body of {opener}."
                yield WorkflowProblem(node=source, message=message, hint=f"Lead to {opener} itself.")
        for opener in sorted(inside - outside):
            if output != ERROR or drafts[opener].type.flow == "map":
                yield _leaving(source, output, target, opener, bodies)
    yield from _loose_ends(topology, bodies, drafts)


def _leaving(source: str, output: str, target: str, opener: str, bodies: Bodies) -> WorkflowProblem:
    end = bodies.ends[opener]
    message = f"The edge from {output!r} to {target} leaves the body of {opener}, which ends at {end}."
    hint = f"Lead to {end}, and continue from the output `done` of {opener}."
    return WorkflowProblem(node=source, message=message, hint=hint)


def _loose_ends(
    topology: Topology, bodies: Bodies, drafts: Mapping[str, DraftNode]
) -> Iterator[WorkflowProblem]:
    for node, opener in bodies.owners.items():
        draft = drafts.get(node)
        for output in draft.type.outputs(draft.settings) if draft is not None else ():
            if (node, output) not in topology.targets and output != BODY:
                message = f"The output {output!r} has no edge, but this step is in the body of {opener}."
                yield WorkflowProblem(node=node, message=message, hint=f"Lead to {bodies.ends[opener]}.")

"""Which node follows which: the edges of a workflow, checked, with its first node and the order of its nodes;
messages about cycles, unconnected nodes and wrong outputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from toolcrib.graph.node_settings import draft
from toolcrib.graph.node_type import AnyNodeType, FindType, UnknownNodeType
from toolcrib.graph.problems import settings_problems
from toolcrib.schema.workflows import ERROR, Edge, Node, Workflow, WorkflowProblem
from toolcrib.suggestions import did_you_mean

MOST_ENTRIES = 20
"""Of several nodes without an incoming edge, the one that leads to most nodes counts as the first."""


@dataclass(frozen=True, kw_only=True)
class DraftNode:
    id: str
    node: Node
    type: AnyNodeType
    settings: Any
    """An instance of the type's settings, in which references are not yet replaced."""

    @property
    def closes(self) -> str | None:
        """The loop or map whose body it ends."""
        return self.type.closes(self.settings) if self.type.closes is not None else None


def read_drafts(
    workflow: Workflow, find_type: FindType
) -> tuple[dict[str, DraftNode], list[WorkflowProblem]]:
    """The nodes that are correct in themselves, and what is wrong with the others."""
    drafts: dict[str, DraftNode] = {}
    problems: list[WorkflowProblem] = []
    for id_, node in workflow.nodes.items():
        try:
            node_type = find_type(node.type)
            settings = draft(node_type.settings, node.settings)
        except UnknownNodeType as error:
            problems.append(WorkflowProblem(node=id_, message=error.message, hint=error.hint))
        except ValidationError as error:
            problems += settings_problems(id_, error, node_type.settings_schema)
        else:
            drafts[id_] = DraftNode(id=id_, node=node, type=node_type, settings=settings)
    return drafts, problems


@dataclass
class Topology:
    targets: dict[tuple[str, str], str] = field(default_factory=dict)
    """By node and output."""
    following: dict[str, dict[str, str]] = field(default_factory=dict)
    """The outputs of each node that have an edge, and where they lead."""
    preceding: dict[str, list[str]] = field(default_factory=dict)
    entry: str = ""
    order: tuple[str, ...] = ()
    """All nodes, each after those that lead to it; those on a cycle are missing."""

    def add(self, edge: Edge) -> None:
        self.targets[edge.source, edge.output] = edge.target
        self.following.setdefault(edge.source, {})[edge.output] = edge.target
        self.preceding.setdefault(edge.target, []).append(edge.source)

    def count_from(self, start: str) -> int:
        """How many nodes can be reached from here."""
        seen, left = {start}, [start]
        while left:
            new = set(self.following.get(left.pop(), {}).values()) - seen
            seen |= new
            left += new
        return len(seen)


def read_topology(
    workflow: Workflow, drafts: Mapping[str, DraftNode]
) -> tuple[Topology, list[WorkflowProblem]]:
    topology, problems = Topology(), list[WorkflowProblem]()
    for edge in workflow.edges:
        wrong = _edge_problem(edge, workflow, drafts, topology)
        if wrong is not None:
            problems.append(wrong)
        if edge.source in workflow.nodes and edge.target in workflow.nodes and edge.source != edge.target:
            _add_if_new(topology, edge)
    problems += _find_entry(topology, workflow)
    problems += _find_order(topology, workflow)
    return topology, problems


def _add_if_new(topology: Topology, edge: Edge) -> None:
    """A wrong edge counts too: its target is then not reported as unreachable."""
    if (edge.source, edge.output) not in topology.targets:
        topology.add(edge)


def _edge_problem(
    edge: Edge, workflow: Workflow, drafts: Mapping[str, DraftNode], topology: Topology
) -> WorkflowProblem | None:
    for end in (edge.source, edge.target):
        if end not in workflow.nodes:
            other = edge.target if end == edge.source else edge.source
            hint = did_you_mean(end, workflow.nodes)
            node = other if other in workflow.nodes else None
            return WorkflowProblem(
                node=node, message=f"The edge {_shown(edge)} names {end!r}, which is no step.", hint=hint
            )
    if edge.source == edge.target:
        return WorkflowProblem(
            node=edge.source, message="An edge leads back to the same step.", hint="Use a Loop to repeat it."
        )
    draft = drafts.get(edge.source)
    if draft is not None and (wrong := _output_problem(edge, draft)):
        return wrong
    earlier = topology.targets.get((edge.source, edge.output))
    if earlier is None:
        return None
    message = f"The output {edge.output!r} has two edges, to {earlier} and to {edge.target}."
    return WorkflowProblem(node=edge.source, message=message, hint="An output leads to one step only.")


def _output_problem(edge: Edge, draft: DraftNode) -> WorkflowProblem | None:
    outputs = (*draft.type.outputs(draft.settings), ERROR)
    if draft.type.flow == "end":
        return WorkflowProblem(
            node=edge.source,
            message=f"{draft.type.name} has no outputs, but an edge leads to {edge.target}.",
            hint=f"Continue from the output `done` of {draft.closes}.",
        )
    if edge.output in outputs:
        return None
    known = f"Its outputs: {', '.join(outputs)}."
    hint = did_you_mean(edge.output[:100], outputs)
    return WorkflowProblem(
        node=edge.source,
        message=f"{draft.type.name} has no output {edge.output[:100]!r}.",
        hint=f"{hint} {known}".strip(),
    )


def _find_entry(topology: Topology, workflow: Workflow) -> list[WorkflowProblem]:
    if not workflow.nodes:
        return [WorkflowProblem(node=None, message="Add the first step.")]
    entries = [node for node in workflow.nodes if not topology.preceding.get(node)]
    if not entries:
        message = "No step can be the first: every step has an incoming edge."
        return [
            WorkflowProblem(node=None, message=message, hint="Remove the edge that leads to the first step.")
        ]
    topology.entry = max(entries[:MOST_ENTRIES], key=topology.count_from) if len(entries) > 1 else entries[0]
    message = f"Nothing leads to this step, and the workflow already starts at {topology.entry}."
    hint = "Connect it, or remove it."
    return [
        WorkflowProblem(node=node, message=message, hint=hint) for node in entries if node != topology.entry
    ]


def _find_order(topology: Topology, workflow: Workflow) -> list[WorkflowProblem]:
    """Sorts the nodes (Kahn's algorithm); what is left lies on a cycle or behind one."""
    waiting = {node: len(topology.preceding.get(node, ())) for node in workflow.nodes}
    ready = [node for node, count in waiting.items() if count == 0]
    for node in ready:
        for target in topology.following.get(node, {}).values():
            waiting[target] -= 1
            if waiting[target] == 0:
                ready.append(target)
    topology.order = tuple(ready)
    left = {node for node, count in waiting.items() if count > 0}
    return [_cycle_problem(topology, left)] if left else []


def _cycle_problem(topology: Topology, left: set[str]) -> WorkflowProblem:
    node = next(iter(sorted(left)))
    seen: dict[str, int] = {}
    while node not in seen:  # every node that is left has a predecessor that is left
        seen[node] = len(seen)
        node = next(previous for previous in topology.preceding[node] if previous in left)
    cycle = [visited for visited, place in seen.items() if place >= seen[node]][::-1]
    first = cycle.index(min(cycle))
    cycle = cycle[first:] + cycle[:first]
    shown = " → ".join([*cycle[:8], *(["…"] if len(cycle) > 8 else []), cycle[0]])
    return WorkflowProblem(
        node=cycle[0],
        message=f"The edges form a cycle: {shown}.",
        hint="Repeat steps with a Loop and its EndLoop.",
    )


def _shown(edge: Edge) -> str:
    return f"{edge.source} → {edge.target}"

"""A workflow as a model wrote it: not valid yet, and changed by the repair rules; and what a plan changes."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from toolcrib.schema.workflows import NEXT, RESERVED, Workflow, WorkflowProblem

_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True, kw_only=True)
class WorkflowNodeChange:
    node: str
    fields: tuple[str, ...]
    """What changed, such as `name` or `settings.arguments`."""


@dataclass(frozen=True, kw_only=True)
class WorkflowEdgeChange:
    """An edge that is new or gone; unlike `Edge`, which is written to files, with the names of its fields."""

    source: str
    output: str
    target: str


@dataclass(frozen=True, kw_only=True)
class WorkflowChanges:
    """What is different from the workflow before; everything, if there was none."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[WorkflowNodeChange, ...] = ()
    edges_added: tuple[WorkflowEdgeChange, ...] = ()
    edges_removed: tuple[WorkflowEdgeChange, ...] = ()
    inputs: tuple[str, ...] = ()
    """Added, removed or changed."""
    outputs: tuple[str, ...] = ()
    other: tuple[str, ...] = ()
    """Other parts of the workflow, such as `description`."""

    @property
    def is_empty(self) -> bool:
        return self == WorkflowChanges()


_OTHER = ("name", "description", "checks", "options", "triggers")


def differences(before: Workflow | None, after: Workflow) -> WorkflowChanges:
    """What is different in `after`; everything is new without a workflow before."""
    old = before or Workflow(name=after.name)
    both = [name for name in after.nodes if name in old.nodes and after.nodes[name] != old.nodes[name]]
    return WorkflowChanges(
        added=tuple(name for name in after.nodes if name not in old.nodes),
        removed=tuple(name for name in old.nodes if name not in after.nodes),
        changed=tuple(WorkflowNodeChange(node=name, fields=_fields(old, after, name)) for name in both),
        edges_added=_edges(after, old),
        edges_removed=_edges(old, after),
        inputs=_keys(old.inputs, after.inputs),
        outputs=_keys(old.outputs, after.outputs),
        other=tuple(name for name in _OTHER if getattr(old, name) != getattr(after, name)),
    )


def _edges(here: Workflow, there: Workflow) -> tuple[WorkflowEdgeChange, ...]:
    """The edges that only one of two workflows has."""
    own = (edge for edge in here.edges if edge not in there.edges)
    return tuple(
        WorkflowEdgeChange(source=edge.source, output=edge.output, target=edge.target) for edge in own
    )


def _fields(old: Workflow, after: Workflow, name: str) -> tuple[str, ...]:
    before, now = old.nodes[name], after.nodes[name]
    own = [
        key
        for key in type(now).model_fields
        if key != "settings" and getattr(before, key) != getattr(now, key)
    ]
    return (*own, *(f"settings.{key}" for key in _keys(before.settings, now.settings)))


def _keys(old: dict[str, Any], new: dict[str, Any]) -> tuple[str, ...]:
    """Keys of which only one has a value, or another one."""
    missing = object()
    return tuple(key for key in {**old, **new} if old.get(key, missing) != new.get(key, missing))


@dataclass(frozen=True, kw_only=True)
class WorkflowDoubt:
    """Something that was corrected or assumed, to be checked."""

    node: str | None
    """The id of the node; null for the workflow as a whole."""
    message: str


@dataclass(kw_only=True)
class PlannedNode:
    id: str
    type: str
    settings: dict[str, Any] = field(default_factory=dict)
    fields: dict[str, Any] = field(default_factory=dict)
    """Everything else that a node of a file may have: name, timeout, retry and so on."""


@dataclass(kw_only=True)
class PlannedEdge:
    source: str
    target: str
    output: str = NEXT

    def __str__(self) -> str:
        return f"{self.source} —{self.output}→ {self.target}"


@dataclass(kw_only=True)
class WorkflowDraft:
    """Changed in place by the rules."""

    name: str = ""
    description: str = ""
    inputs: dict[str, dict[str, Any]] = field(default_factory=dict)
    nodes: dict[str, PlannedNode] = field(default_factory=dict)
    edges: list[PlannedEdge] = field(default_factory=list)
    outputs: dict[str, Any] = field(default_factory=dict)
    rest: dict[str, Any] = field(default_factory=dict)
    """Other parts of the file: checks, options, triggers."""
    kept: frozenset[str] = frozenset()
    """Nodes of the current workflow, which the rules for nodes leave unchanged."""
    doubts: list[WorkflowDoubt] = field(default_factory=list)
    problems: list[WorkflowProblem] = field(default_factory=list)

    def doubt(self, node: str | None, message: str) -> None:
        found = WorkflowDoubt(node=node, message=message)
        if found not in self.doubts:
            self.doubts.append(found)

    def problem(self, node: str | None, message: str, hint: str = "") -> None:
        self.problems.append(WorkflowProblem(node=node, message=message, hint=hint))

    def new_nodes(self) -> list[PlannedNode]:
        """The nodes that the model wrote."""
        return [node for node in self.nodes.values() if node.id not in self.kept]

    def of_type(self, *types: str) -> list[PlannedNode]:
        return [node for node in self.nodes.values() if node.type in types]

    def edges_from(self, node: str, output: str | None = None) -> list[PlannedEdge]:
        return [edge for edge in self.edges if edge.source == node and output in (None, edge.output)]

    def edges_to(self, node: str) -> list[PlannedEdge]:
        return [edge for edge in self.edges if edge.target == node]

    def add_edge(self, source: str, target: str, output: str = NEXT) -> None:
        self.edges.append(PlannedEdge(source=source, target=target, output=output))

    def remove_node(self, node: str) -> None:
        del self.nodes[node]
        self.edges = [edge for edge in self.edges if node not in (edge.source, edge.target)]

    def reached(self, start: str, *, without: frozenset[str] = frozenset()) -> set[str]:
        """The nodes that can be reached from one, with itself; those in `without` are not passed."""
        found, left = set[str](), [start]
        while left:
            node = left.pop()
            if node in found or node in without or node not in self.nodes:
                continue
            found.add(node)
            left += [edge.target for edge in self.edges if edge.source == node]
        return found


def valid_id(text: str) -> str:
    """The nearest valid id."""
    plain = re.sub(r"[^a-z0-9]+", "_", _CAPITAL.sub("_", text).lower()).strip("_")
    if not plain or not plain[0].isalpha():
        plain = f"n_{plain}".rstrip("_")
    return (f"{plain}_node" if plain in RESERVED else plain)[:64]


def free_id(wanted: str, taken: Container[str]) -> str:
    """This id, or the first of `wanted_2` and so on that is not taken."""
    numbered = (wanted if number == 1 else f"{wanted[:60]}_{number}" for number in count(1))
    return next(candidate for candidate in numbered if candidate not in taken)


def map_texts(value: Any, change: Callable[[str], str]) -> Any:
    """The same value with every text in it changed, but not its keys."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: map_texts(inner, change) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [map_texts(inner, change) for inner in value]
    return value


def texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from texts_in(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from texts_in(inner)

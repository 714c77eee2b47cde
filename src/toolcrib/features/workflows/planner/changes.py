"""What a plan changes in a workflow, by id, so that it can be shown before it is used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from toolcrib.schema.workflows import Workflow


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

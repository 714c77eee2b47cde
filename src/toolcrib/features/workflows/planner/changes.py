"""What a plan changes in a workflow, by id, so that it can be shown before it is used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from toolcrib.schema.workflows import Edge, Workflow


@dataclass(frozen=True, kw_only=True)
class ChangedNode:
    node: str
    fields: tuple[str, ...]
    """What changed: `type`, `name`, `settings.tool` and so on."""


@dataclass(frozen=True, kw_only=True)
class Changes:
    """Everything that differs; nodes, inputs and outputs by their names."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[ChangedNode, ...] = ()
    edges_added: tuple[Edge, ...] = ()
    edges_removed: tuple[Edge, ...] = ()
    inputs: tuple[str, ...] = ()
    """Added, removed or changed."""
    outputs: tuple[str, ...] = ()
    other: tuple[str, ...] = ()
    """Other parts of the workflow, such as `description`."""

    @property
    def is_empty(self) -> bool:
        return self == Changes()


_OTHER = ("name", "description", "checks", "options", "triggers")


def differences(before: Workflow | None, after: Workflow) -> Changes:
    """What is different in `after`; everything is new without a workflow before."""
    old = before or Workflow(name=after.name)
    both = [name for name in after.nodes if name in old.nodes and after.nodes[name] != old.nodes[name]]
    return Changes(
        added=tuple(name for name in after.nodes if name not in old.nodes),
        removed=tuple(name for name in old.nodes if name not in after.nodes),
        changed=tuple(ChangedNode(node=name, fields=_fields(old, after, name)) for name in both),
        edges_added=tuple(edge for edge in after.edges if edge not in old.edges),
        edges_removed=tuple(edge for edge in old.edges if edge not in after.edges),
        inputs=_keys(old.inputs, after.inputs),
        outputs=_keys(old.outputs, after.outputs),
        other=tuple(name for name in _OTHER if getattr(old, name) != getattr(after, name)),
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

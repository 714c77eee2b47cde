"""Whether a workflow means the same as another: the same nodes, calls and conditions, connected alike.

Ids, names and texts may differ.
"""

from __future__ import annotations

from typing import Any

from toolcrib.schema.workflows import Workflow

Shape = tuple[Any, ...]
_KEYS = ("condition", "exit_condition", "seconds", "event", "workflow", "key")


def shape_of(workflow: Workflow) -> Shape:
    """The tree of all paths from the first node."""
    following: dict[str, list[tuple[str, str]]] = {}
    for edge in workflow.edges:
        following.setdefault(edge.source, []).append((edge.output, edge.target))
    entered = {edge.target for edge in workflow.edges}
    first = [name for name in workflow.nodes if name not in entered]
    return tuple(_node(workflow, following, name, frozenset()) for name in first)


def _node(
    workflow: Workflow, following: dict[str, list[tuple[str, str]]], name: str, above: frozenset[str]
) -> Shape:
    if name in above:
        return ("cycle", name)
    paths = sorted(
        (output, _node(workflow, following, target, above | {name}))
        for output, target in following.get(name, ())
    )
    node = workflow.nodes[name]
    arguments = node.settings.get("arguments")
    return (
        node.type,
        str(node.settings.get("tool", "")),
        tuple(sorted(arguments)) if isinstance(arguments, dict) else (),
        str(sorted((key, _plain(node.settings[key])) for key in _KEYS if key in node.settings)),
        tuple(paths),
    )


def _plain(value: Any) -> str:
    """A setting without the ids in it."""
    if isinstance(value, dict):
        return f"{value.get('operator')} {value.get('right')}"
    return str(value)

"""The kinds of nodes as the page and the planner see them."""

from __future__ import annotations

from functools import cache
from typing import Any

from toolcrib.features.workflows.graph.node_types import node_types
from toolcrib.graph.node_type import AnyNodeType


@cache
def described_types() -> list[dict[str, Any]]:
    """Every kind of node, by group and name."""
    found = sorted(node_types().values(), key=lambda node: (node.group, node.name))
    return [_described(node) for node in found]


def _described(node: AnyNodeType) -> dict[str, Any]:
    return {
        "name": node.name,
        "title": node.title,
        "group": node.group,
        "about": node.about,
        "settings": node.settings.model_json_schema(),
        "result": node.result.model_json_schema(mode="serialization"),
        "flow": node.flow,
        "outputs": list(node.outputs(_default(node))),
        "timeout": node.timeout,
    }


def _default(node: AnyNodeType) -> Any:
    """Settings as they are before the user has filled in anything."""
    fields = node.settings.model_fields.items()
    return node.settings.model_construct(**{name: () for name, field in fields if field.is_required()})

"""Turns nodes into tool calls and tool calls into nodes.

Each node type says how, with its `use` and `read`; this module only asks them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError

from toolcrib.features.workflows.graph.node_types import find_type, node_types
from toolcrib.graph.node_settings import NodeSettings, draft
from toolcrib.graph.node_type import AnyNodeType, NodeCall, NotAToolNode
from toolcrib.graph.problems import InvalidSettings
from toolcrib.schema.tools import Tool
from toolcrib.schema.workflows import Node

__all__ = ["NotAToolNode", "to_call", "to_node"]


def to_call(node: Node) -> NodeCall:
    """The tool call that a node stands for; raises `NotAToolNode` for control nodes and the like.

    References in its settings stay in the arguments.
    """
    node_type = find_type(node.type)
    if node_type.use is None:
        hint = "Nodes that stand for a call: " + ", ".join(other.name for other in _with_calls()) + "."
        raise NotAToolNode(f"{node_type.name} does not stand for a tool call.", hint=hint)
    try:
        return node_type.use(draft(node_type.settings, node.settings))
    except ValidationError as error:
        raise InvalidSettings(node_type.name, error) from None


def to_node(
    tool: str,
    arguments: Mapping[str, Any],
    *,
    find_tool: Callable[[str], Tool],
    desktop: str = "desktop",
) -> Node:
    """The node for a call: that of a desktop tool, or McpToolCall. `find_tool` raises `UnknownTool`.

    `desktop` is the server of the workflow's desktop nodes; tools of the same name elsewhere are no desktop
    tools.
    """
    found = find_tool(tool)
    if found.server == desktop:
        use = NodeCall(tool=found.definition.name, arguments=arguments, desktop=True)
        node = _read(use)
        if node is not None:
            return node
    general = _read(NodeCall(tool=found.name, arguments=arguments))
    assert general is not None, "McpToolCall reads every call"
    return general


def _read(use: NodeCall) -> Node | None:
    for node_type in _with_calls():
        settings = node_type.read(use) if node_type.read is not None else None
        if settings is not None:
            return Node(type=node_type.name, settings=_stored(settings))
    return None


def _stored(settings: NodeSettings) -> dict[str, Any]:
    return settings.model_dump(mode="json", by_alias=True, exclude_defaults=True)


def _with_calls() -> list[AnyNodeType]:
    return [node_type for node_type in node_types().values() if node_type.use is not None]

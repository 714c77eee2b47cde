"""Finds the node types: those of the folder `workflows/nodes`, and those of other packages."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from toolcrib import plugins
from toolcrib.graph.node_type import AnyNodeType, UnknownNodeType
from toolcrib.suggestions import did_you_mean

FOLDER = "toolcrib.features.workflows.nodes"


@cache
def node_types() -> Mapping[str, AnyNodeType]:
    """All node types by the name that the file uses; a built-in one cannot be replaced."""
    found: dict[str, AnyNodeType] = {}
    elsewhere = plugins.names_elsewhere(FOLDER)
    for name in sorted(plugins.names(FOLDER), key=lambda name: name in elsewhere):
        node_type: AnyNodeType = plugins.find(FOLDER, name).NODE
        found.setdefault(node_type.name, node_type)
    return found


def find_type(name: str) -> AnyNodeType:
    """Raises `UnknownNodeType` with similar names."""
    found = node_types().get(name)
    if found is None:
        known = ", ".join(node_types())
        hint = did_you_mean(name[:100], node_types(), otherwise=f"Known: {known}.")
        raise UnknownNodeType(f"There is no node type {name[:100]!r}.", hint=hint)
    return found

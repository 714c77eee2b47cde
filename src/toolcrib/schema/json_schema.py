"""Follows the references inside a JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def follow(root: Mapping[str, Any], reference: str) -> Any:
    """The target of a local reference such as `#/$defs/Point` or `#anchor`; None for other references."""
    if reference == "#":
        return root
    if not reference.startswith("#/"):
        return _anchored(root, reference[1:]) if reference.startswith("#") else None
    node: Any = root
    for part in reference[2:].split("/"):
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(node, Mapping):
            node = node.get(key)
        elif isinstance(node, list) and key.isdigit() and int(key) < len(node):
            node = node[int(key)]
        else:
            return None
    return node


def _anchored(root: Mapping[str, Any], anchor: str) -> Any:
    for key in ("$defs", "definitions"):
        group = root.get(key)
        for node in group.values() if isinstance(group, Mapping) else ():
            if isinstance(node, Mapping) and anchor in (node.get("$anchor"), node.get("$dynamicAnchor")):
                return node
    return None

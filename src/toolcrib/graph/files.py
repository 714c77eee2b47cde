"""Reads and writes the JSON file of a workflow: largest file, deepest nesting, most nodes, edges and inputs,
and messages about a damaged file.

Written files have the keys in the order of the model and no default values, so that a diff is readable.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from toolcrib.graph.problems import InvalidWorkflow, file_problems
from toolcrib.schema.workflows import Workflow, WorkflowProblem

LARGEST_FILE = 16_000_000
"""Bytes; images to look for are part of the file."""
DEEPEST = 60
"""Levels of objects and lists."""
MOST_NODES = 2_000
MOST = {
    "nodes": MOST_NODES,
    "edges": 5 * MOST_NODES,
    "inputs": 1_000,
    "outputs": 1_000,
    "checks": 1_000,
    "triggers": 1_000,
}
"""Entries of each part; checks compare every node with those before it."""


def read_workflow(text: str | bytes) -> Workflow:
    """A workflow from its file; raises `InvalidWorkflow`. It may still have problems: see `validate`."""
    if len(text) > LARGEST_FILE:
        raise _broken(f"The file is larger than {LARGEST_FILE // 1_000_000} MB.")
    return workflow_from(_parsed(text))


def workflow_from(data: Any) -> Workflow:
    """A workflow from parsed JSON."""
    if not isinstance(data, Mapping):
        raise _broken("The file is not a JSON object.")
    if depth_of(data) > DEEPEST:
        raise _broken(f"The file is nested more than {DEEPEST} levels deep.")
    for part, most in MOST.items():
        if isinstance(data.get(part), Mapping | list | tuple) and len(data[part]) > most:
            raise _broken(f"The file has {len(data[part]):,} {part}; at most {most:,} are allowed.")
    _check_values(data)
    try:
        return Workflow.model_validate(_without_back_edges(data))
    except ValidationError as error:
        raise InvalidWorkflow(list(file_problems(error))) from None


def write_workflow(workflow: Workflow) -> str:
    """The file of a workflow."""
    data = workflow.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return json.dumps({"format": workflow.format, **data}, indent=2, ensure_ascii=False) + "\n"


def _parsed(text: str | bytes) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except RecursionError:
        raise _broken(f"The file is nested more than {DEEPEST} levels deep.") from None
    except ValueError as error:
        raise _broken(f"The file is not valid JSON: {str(error)[:200]}.") from None


def _check_values(data: Mapping[str, Any]) -> None:
    """Refuses what could not be written again: infinite numbers, and halves of surrogate pairs."""
    try:
        json.dumps(data, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeError:
        raise _broken("The file has characters that are not valid Unicode.") from None
    except (ValueError, TypeError) as error:
        raise _broken(f"The file is not valid JSON: {str(error)[:200]}.") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise _broken(f"The key {name[:100]!r} occurs twice in one object.")
        found[name] = value
    return found


def depth_of(value: Any) -> int:
    """The levels of nesting, counted up to one more than is allowed."""
    level, depth = [value], 0
    while level and depth <= DEEPEST:
        level = [child for parent in level for child in _children(parent)]
        depth += 1
    return depth


def _children(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        return iter(value.values())
    return iter(value) if isinstance(value, list | tuple) else iter(())


def _without_back_edges(data: Mapping[str, Any]) -> dict[str, Any]:
    """Without edges from an end node to its own loop or map, which other programs write."""
    edges, nodes = data.get("edges"), data.get("nodes")
    if not isinstance(edges, list | tuple) or not isinstance(nodes, Mapping):
        return dict(data)
    return {**data, "edges": [edge for edge in edges if not _is_back_edge(edge, nodes)]}


def _is_back_edge(edge: Any, nodes: Mapping[str, Any]) -> bool:
    if not isinstance(edge, Mapping):
        return False
    source, target = edge.get("from"), edge.get("to")
    node = nodes.get(source) if isinstance(source, str) else None
    if not isinstance(node, Mapping) or not isinstance(target, str):
        return False
    settings = node.get("settings")
    if not isinstance(settings, Mapping):
        return False
    return (node.get("type"), target) in (
        ("EndLoop", settings.get("loop")),
        ("EndMap", settings.get("map")),
    )


def _broken(message: str) -> InvalidWorkflow:
    return InvalidWorkflow([WorkflowProblem(node=None, message=message)])

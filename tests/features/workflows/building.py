"""Workflows for the tests, written as short as a test wants them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from toolcrib.features.workflows.graph.validation import validate
from toolcrib.graph.files import workflow_from
from toolcrib.schema.workflows import Workflow, WorkflowProblem
from toolcrib.tools.registry import Registry


def edges(*paths: str) -> list[dict[str, str]]:
    """`"a → b → c"` and `"check.true → d"`: edges, each from the output that is named."""
    found = []
    for path in paths:
        names = [name.strip() for name in path.split("→")]
        for start, target in pairwise(names):
            source, _, output = start.partition(".")
            found.append(
                {"from": source, "to": target.partition(".")[0], **({"output": output} if output else {})}
            )
    return found


def workflow(nodes: dict[str, tuple[str, dict[str, Any]]], *paths: str, **more: Any) -> Workflow:
    """A workflow from the type and the settings of each node; without paths, the nodes are a chain."""
    entries = {id_: {"type": kind, "settings": settings} for id_, (kind, settings) in nodes.items()}
    return workflow_from(
        {"name": "test", "nodes": entries, "edges": edges(*(paths or (" → ".join(nodes),))), **more}
    )


def registry(**tools: dict[str, Any]) -> Registry:
    """A registry with tools of the server `demo`, each with its definition."""
    found = Registry()
    found.put("demo", "mcp", [{"name": name, "description": name, **raw} for name, raw in tools.items()])
    return found


def problems(found: Workflow, **known: Any) -> list[tuple[str | None, str]]:
    return [(each.node, each.message) for each in validate(found, **known)]


def only_problem(found: Workflow, **known: Any) -> WorkflowProblem:
    [problem] = validate(found, **known)
    return problem

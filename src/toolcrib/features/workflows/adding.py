"""Adds one tool call to a workflow as a node."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from toolcrib.errors import UsageError
from toolcrib.features.workflows.conversion import to_node
from toolcrib.features.workflows.graph.node_types import node_types
from toolcrib.features.workflows.planner.repairs.ids import valid_id
from toolcrib.schema.tools import Tool
from toolcrib.schema.workflows import NEXT, Edge, Workflow
from toolcrib.suggestions import did_you_mean


def add_call(
    workflow: Workflow,
    tool: str,
    arguments: Mapping[str, Any],
    *,
    find_tool: Callable[[str], Tool],
    after: str | None = None,
) -> Workflow:
    """The workflow with a node for this call after another one, or at its end.

    What followed that node follows the new one. Raises `UnknownTool` and `UsageError`.
    """
    node = to_node(tool, arguments, find_tool=find_tool, desktop=workflow.options.desktop)
    wanted = valid_id(tool.rpartition("__")[2])
    name = next(name for name in _names(wanted) if name not in workflow.nodes)
    previous = _previous(workflow, after)
    edges = [_moved(edge, previous, name) for edge in workflow.edges]
    if previous is not None:
        edges.append(_edge(previous, name))
    return workflow.model_copy(update={"nodes": {**workflow.nodes, name: node}, "edges": tuple(edges)})


def _names(wanted: str) -> list[str]:
    return [wanted, *(f"{wanted[:60]}_{number}" for number in range(2, 10_000))]


def _previous(workflow: Workflow, after: str | None) -> str | None:
    if after is not None:
        if after in workflow.nodes:
            return after
        raise UsageError(f"There is no node {after[:100]!r}.", hint=did_you_mean(after, workflow.nodes))
    if not workflow.nodes:
        return None
    ends = [name for name in workflow.nodes if _is_end(workflow, name)]
    if len(ends) != 1:
        raise UsageError("The workflow has several ends.", hint=f"Choose one: {', '.join(ends[:20])}.")
    return ends[0]


def _is_end(workflow: Workflow, name: str) -> bool:
    """Whether a path ends at the output `next` of a node."""
    kind = node_types().get(workflow.nodes[name].type)
    leads_on = any(edge.source == name and edge.output == NEXT for edge in workflow.edges)
    return kind is not None and kind.flow == "step" and not leads_on


def _moved(edge: Edge, previous: str | None, name: str) -> Edge:
    if edge.source != previous or edge.output != NEXT:
        return edge
    return _edge(name, edge.target)


def _edge(source: str, target: str) -> Edge:
    return Edge.model_validate({"from": source, "to": target})

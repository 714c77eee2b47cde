"""Make workflows: from requests in plain language, from chats, and call by call (where the new step is put).
Nothing is saved or run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from toolcrib.errors import UsageError
from toolcrib.features.workflows.conversion import to_node
from toolcrib.features.workflows.graph.node_types import node_types
from toolcrib.features.workflows.operations.workflows import SETTLE, WorkflowJson, as_dict
from toolcrib.features.workflows.planner.draft import WorkflowDoubt, differences, free_id, valid_id
from toolcrib.features.workflows.results.plans import (
    WorkflowDrafted,
    WorkflowPlanned,
)
from toolcrib.features.workflows.service import parse
from toolcrib.host import Host
from toolcrib.operations.lookup import settled
from toolcrib.operations.operation import LAZY, JsonObject, Names, operation
from toolcrib.schema.tools import Tool
from toolcrib.schema.workflows import NEXT, Edge, Workflow
from toolcrib.suggestions import did_you_mean

NEW_NAME = "workflow"


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
    name = free_id(valid_id(tool.rpartition("__")[2]), workflow.nodes)
    previous = _previous(workflow, after)
    edges = [_moved(edge, previous, name) for edge in workflow.edges]
    if previous is not None:
        edges.append(_edge_to(previous, name))
    return workflow.model_copy(update={"nodes": {**workflow.nodes, name: node}, "edges": tuple(edges)})


def _previous(workflow: Workflow, after: str | None) -> str | None:
    if after is not None:
        if after in workflow.nodes:
            return after
        raise UsageError(f"There is no step {after[:100]!r}.", hint=did_you_mean(after, workflow.nodes))
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
    return _edge_to(name, edge.target)


def _edge_to(source: str, target: str) -> Edge:
    return Edge.model_validate({"from": source, "to": target})


@operation(page=True, needs=LAZY)
async def workflow_plan(
    host: Host,
    request: Annotated[str, Field(min_length=1, max_length=20_000)],
    *,
    model: str | None = None,
    current: WorkflowJson | None = None,
) -> WorkflowPlanned:
    """Plan a workflow with a model, or change one; it is neither saved nor run.

    Raises `PlanRefused` with the reason if no valid workflow comes of the request.
    `current`: the workflow to change; the result lists what was added, removed and changed.
    """
    before = None if current is None else parse(current)
    await settled(host, SETTLE)
    plan = await host.workflows.plan(request, model=model, current=before)
    return {
        **_drafted(before, plan.workflow, plan.doubts),
        "model": plan.model,
        "requests": plan.requests,
        "offered": list(plan.offered),
        "input": plan.usage.input,
        "output": plan.usage.output,
    }


@operation(page=True, needs=LAZY)
async def workflow_from_chat(
    host: Host, chat: str, *, others: Names, name: str | None = None
) -> WorkflowDrafted:
    """Make a workflow from the tool calls of a chat; it is not saved.

    Failed and repeated calls are left out. Values from earlier results become references; values that the
    user named become inputs. Raises `NotFound`, or `UsageError` if the chat called no tools.
    `others`: more chats that did the same; the values that differ become inputs.
    """
    await settled(host, SETTLE)
    made = await host.workflows.from_chat(*others, chat, name=name)
    return _drafted(None, made.workflow, made.doubts)


@operation(page=True, needs=LAZY)
async def workflow_add_call(
    host: Host,
    tool: str,
    *,
    arguments: JsonObject,
    workflow: WorkflowJson | None = None,
    after: str | None = None,
) -> WorkflowDrafted:
    """Add a tool call to a workflow, or begin one with it; it is not saved.

    Raises `UnknownTool`.
    `after`: the node that it follows; the end of the workflow by default.
    """

    before = None if workflow is None else parse(workflow)
    await settled(host, SETTLE)
    find_tool = host.toolset.registry.resolve
    base = before or Workflow(name=NEW_NAME)
    changed = add_call(base, tool, arguments, find_tool=find_tool, after=after)
    return _drafted(before, changed, ())


def _drafted(before: Workflow | None, after: Workflow, doubts: Sequence[WorkflowDoubt]) -> WorkflowDrafted:
    return {
        "workflow": as_dict(after),
        "changes": differences(before, after),
        "doubts": list(doubts),
    }

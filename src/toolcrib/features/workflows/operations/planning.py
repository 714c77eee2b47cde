"""Make workflows: from requests in plain language, from chats, and call by call. Nothing is saved or run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from toolcrib.features.workflows.doubts import Doubt
from toolcrib.features.workflows.operations.workflows import SETTLE, WorkflowJson, as_dict
from toolcrib.features.workflows.planner.changes import differences
from toolcrib.features.workflows.results.plans import (
    WorkflowDrafted,
    WorkflowPlanned,
)
from toolcrib.features.workflows.service import parse
from toolcrib.host import Host
from toolcrib.operations.lookup import settled
from toolcrib.operations.operation import LAZY, JsonObject, Names, operation
from toolcrib.schema.workflows import Workflow

NEW_NAME = "workflow"


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
    from toolcrib.features.workflows.adding import add_call

    before = None if workflow is None else parse(workflow)
    await settled(host, SETTLE)
    find_tool = host.toolset.registry.resolve
    base = before or Workflow(name=NEW_NAME)
    changed = add_call(base, tool, arguments, find_tool=find_tool, after=after)
    return _drafted(before, changed, ())


def _drafted(before: Workflow | None, after: Workflow, doubts: Sequence[Doubt]) -> WorkflowDrafted:
    return {
        "workflow": as_dict(after),
        "changes": differences(before, after),
        "doubts": [{"node": doubt.node, "message": doubt.message} for doubt in doubts],
    }

"""Makes workflows with a host: from requests with a model, and from chats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from toolcrib.agent.builtin_tools import NAMES
from toolcrib.agent.chat import Kept
from toolcrib.chats.replay import replay
from toolcrib.features.workflows.from_chat.calls import ChatCall, calls_of, without_repeats
from toolcrib.features.workflows.from_chat.workflow import FromChat, workflow_of
from toolcrib.features.workflows.planner.draft import Doubt
from toolcrib.features.workflows.planner.planner import Planner, WorkflowPlan
from toolcrib.host import Host
from toolcrib.schema.tools import Tool
from toolcrib.schema.workflows import Workflow

if TYPE_CHECKING:
    from toolcrib.agent.chat import Chat
    from toolcrib.llm.model import Model


class PlannerTools:
    """The tools of a host, selected by its retrieval."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def tools(self) -> Sequence[Tool]:
        return self._host.answering_tools()

    async def select(self, request: str, most: int) -> Sequence[Tool]:
        finder = self._host.toolset.finder
        await finder.follow(self.tools)
        return (await finder.select(request, most)).tools


async def plan_workflow(
    host: Host,
    request: str,
    *,
    stored: Mapping[str, Workflow],
    model: str | Model | None = None,
    current: Workflow | None = None,
) -> WorkflowPlan:
    """A workflow for the request, or the current one changed; raises `PlanRefused` and `ModelError`."""
    chosen = (
        host.chats.models.get(host.chats.models.choose(model))
        if model is None or isinstance(model, str)
        else model
    )
    return await Planner(chosen, PlannerTools(host), workflows=stored).plan(request, current)


async def workflow_from_chats(host: Host, chats: Sequence[str], *, name: str | None = None) -> FromChat:
    """The workflow of the last chat, in which the values that differ in the others are inputs.

    Raises `NotFound`, and `UsageError` if the chats did different things.
    """
    found = [await host.chats.store.load(chat) for chat in dict.fromkeys(chats)]
    read = [await _calls(host, chat) for chat in found]
    title = found[-1].info.title
    made = workflow_of(
        [calls for calls, _ in read],
        name=name or title or f"chat-{found[-1].id}",
        description=title,
        find_tool=host.toolset.registry.resolve,
    )
    return FromChat(workflow=made.workflow, doubts=(*read[-1][1], *made.doubts))


async def _calls(host: Host, chat: Chat) -> tuple[list[ChatCall], list[Doubt]]:
    entries = await host.chats.rows.read(chat.id)
    whole = {entry.name: entry.text for entry in chat.entries if isinstance(entry, Kept)}
    calls, failed = calls_of(replay(entries), ignored=NAMES, whole=whole)
    kept, repeated = without_repeats(calls, host.toolset.registry.resolve)
    return kept, [*failed, *repeated]

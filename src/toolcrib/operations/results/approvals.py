"""Everything that waits for the user: the kinds of questions, and the fields of each item."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, cast

from typing_extensions import TypedDict

from toolcrib.chats.call_question import CallQuestion
from toolcrib.host import Host
from toolcrib.host.chat_questions import QuestionWords

WaitingKind = Literal["call", "sampling", "elicitation", "trust", "sign-in", "value", "changed", "workflow"]


class WaitingItem(TypedDict):
    """Something that waits for the user."""

    kind: WaitingKind
    """`call`, `sampling` and `elicitation` are questions that block a call, `workflow` one that blocks a run;
    the others block nothing."""
    id: str | None
    """The question's id; answer it with `approval_answer` if `durable`, else with `chat_reply`.

    For `workflow` the step; answer it with `workflow_answer`."""
    durable: bool
    server: str | None
    tool: str | None
    chat: str | None
    """The chat that asks, if it is one."""
    chat_title: str | None
    run: str | None
    """The run of a workflow that asks, if it is one."""
    principal: str | None
    reason: str
    """The server's reason, or the text of a question."""
    tools: list[str]
    """For `changed`: the held tools."""
    detail: dict[str, Any]
    """For a question: all of it, as shown to the user."""
    since: str | None


def waiting_item(kind: WaitingKind, **known: object) -> WaitingItem:
    """An item with these values, and empty ones."""
    item: WaitingItem = {
        "kind": kind,
        "id": None,
        "durable": False,
        "server": None,
        "tool": None,
        "chat": None,
        "chat_title": None,
        "run": None,
        "principal": None,
        "reason": "",
        "tools": [],
        "detail": {},
        "since": None,
    }
    item.update(known)  # type: ignore[typeddict-item]
    return item


class Waiting(TypedDict):
    """Everything that waits: questions first, then by age, oldest first."""

    count: int
    items: list[WaitingItem]


async def shown_question(host: Host, detail: Mapping[str, Any]) -> CallQuestion:
    """The gate's question with its title, the call, and the text of every rule it would write."""
    texts = QuestionWords(
        host.toolset.registry.snapshot.get,
        host.approvals.policy.is_ours,
        host.toolset.workspace.holds,
    )
    shown = detail if "exhibit" in detail else await texts.described(detail)
    kept = CallQuestion.__annotations__
    return cast("CallQuestion", {key: value for key, value in shown.items() if key in kept})

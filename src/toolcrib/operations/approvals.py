"""Approvals and other questions that wait for the user: lists them in their order, with servers that wait for
trust, a sign-in or a value, and passes on the answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, cast

from toolcrib.agent.question_routing import PendingQuestion
from toolcrib.approvals.question import ApprovalAnswer, WaitingQuestion, read_flow_exception
from toolcrib.chats.call_question import CallQuestion
from toolcrib.errors import NotFound
from toolcrib.feature import features
from toolcrib.host import Host
from toolcrib.operations.operation import (
    LAZY,
    RUNNING,
    operation,
)
from toolcrib.operations.results.approvals import (
    Waiting,
    WaitingItem,
    WaitingKind,
    shown_question,
    waiting_item,
)
from toolcrib.operations.results.models import ReplyTaken
from toolcrib.operations.results.policy import ApprovalAnswered, ApprovalQuestion
from toolcrib.schema.approvals import FlowException, Scope
from toolcrib.schema.deciders import decider
from toolcrib.schema.json_values import moment
from toolcrib.schema.servers import ServerState, ServerStatus
from toolcrib.schema.tools import Tool


@operation(page=True)
async def approvals(host: Host) -> list[ApprovalQuestion]:
    """List the approval requests that are waiting, oldest first."""
    waiting = await host.approvals.questions.requests.waiting()
    return [
        cast(
            "ApprovalQuestion",
            {"asked_at": request.asked_at.isoformat(timespec="seconds"), **request.question},
        )
        for request in waiting
    ]


@operation(page=True)
async def approval_answer(
    host: Host,
    id: str,
    allow: bool,
    *,
    scope: Scope = "once",
    message: str = "",
    any_arguments: bool = False,
    lift: FlowException | bool | None = None,
) -> ApprovalAnswered:
    """Approve or deny a waiting request.

    Raises `NotFound`.
    `any_arguments`: approve every call of the tool, if the request offers that.
    `lift`: how far untrusted content may act from now on; true for the whole session.
    """
    answer = ApprovalAnswer(
        allow=allow,
        scope=scope,
        any_arguments=any_arguments,
        message=message,
        lift=read_flow_exception(lift),
    )
    if not await host.approvals.questions.answer(id, answer):
        raise NotFound(f"No request {id!r} is waiting.", hint="List them with: toolcrib approvals")
    return {"id": id, "allowed": allow, "scope": scope}


@operation(page=True)
async def question_show(host: Host, id: str) -> CallQuestion:
    """Show one approval request.

    Raises `NotFound` if it is no longer waiting.
    """
    return await shown_question(host, await _find(host, id))


async def _find(host: Host, question_id: str) -> dict[str, Any]:
    for open_question in host.chats.questions.waiting():
        question = open_question.question
        if question.id == question_id and question.about == "call":
            return dict(question.detail)
    for request in await host.approvals.questions.requests.waiting():
        if request.question["id"] == question_id:
            return dict(request.question)
    raise NotFound(f"No request {question_id!r} is waiting.", hint="It was answered, or its turn ended.")


@operation(page=True, needs=RUNNING)
async def waiting(host: Host) -> Waiting:
    """List everything that needs the user."""
    items = await gather_waiting(host)
    return {"count": len(items), "items": items}


@operation(page=True, needs=LAZY)
async def chat_reply(
    host: Host,
    id: str,
    action: Literal["accept", "decline", "cancel"],
    *,
    content: dict[str, Any] | None = None,
) -> ReplyTaken:
    """Answer a question of a running turn.

    Raises `NotFound` if it is no longer open.
    """
    reply: dict[str, Any] = {"action": action, "by": decider()}
    if content is not None:
        reply["content"] = content
    await host.chats.questions.decide(id, reply).taken.wait()
    await host.approvals.rules.stored()  # the answer may have made one
    return {"id": id}


_OF_STATE: dict[ServerState, WaitingKind] = {
    ServerState.NEEDS_TRUST: "trust",
    ServerState.NEEDS_AUTH: "sign-in",
    ServerState.NEEDS_CONFIG: "value",
}
_ABOUT: dict[str, WaitingKind] = {"call": "call", "sampling": "sampling", "elicitation": "elicitation"}


async def gather_waiting(host: Host) -> list[WaitingItem]:
    """List everything that waits: questions first, then by age, oldest first."""
    questions = [_durable(request) for request in await host.approvals.questions.requests.waiting()]
    questions += [_open(question) for question in host.chats.questions.waiting()]
    for feature in features():
        if feature.waiting and host.features.opened(feature.name) is not None:
            questions += await feature.function(feature.waiting)(host)
    others = [
        _server(host, status, kind)
        for status in host.servers.statuses()
        if (kind := _OF_STATE.get(status.state)) is not None
    ]
    others += [
        _held(server, held)
        for server, tools in host.toolset.registry.snapshot.by_server.items()
        if server is not None and (held := [tool for tool in tools if tool.in_review])
    ]
    titled = [await _titled(host, question) for question in sorted(questions, key=_age)]
    return [*titled, *sorted(others, key=_age)]


async def _titled(host: Host, item: WaitingItem) -> WaitingItem:
    if item["chat"] is None:
        return item
    return {**item, "chat_title": await host.chats.store.title(item["chat"])}


def _age(item: WaitingItem) -> tuple[bool, str]:
    return item["since"] is None, item["since"] or ""


def _without_preview(detail: Mapping[str, Any]) -> dict[str, Any]:
    """For a list, which is fetched often: a preview may have a picture."""
    return {key: value for key, value in detail.items() if key not in ("preview", "exhibit")}


def _durable(request: WaitingQuestion) -> WaitingItem:
    asked = request.question
    of_run = asked["principal"].startswith("workflow:")
    of_client = asked["principal"].partition(":")[0] == "gateway"
    return waiting_item(
        "call",
        id=asked["id"],
        durable=True,
        server=asked["server"],
        tool=asked["tool"],
        chat=None if of_run or of_client else asked["session"],
        run=asked["session"] if of_run else None,
        principal=asked["principal"],
        reason="; ".join(asked["reasons"]),
        detail=_without_preview(asked),
        since=moment(request.asked_at),
    )


def _open(question: PendingQuestion) -> WaitingItem:
    asked = question.question
    return waiting_item(
        _ABOUT.get(asked.about, "elicitation"),
        id=asked.id,
        server=asked.server or None,
        tool=asked.detail.get("tool"),
        chat=asked.detail.get("session"),
        principal=asked.detail.get("principal"),
        reason=asked.text,
        detail=_without_preview(asked.detail),
        since=moment(question.asked_at),
    )


def _server(host: Host, status: ServerStatus, kind: WaitingKind) -> WaitingItem:
    since = host.core.server_events.since(status.name)
    return waiting_item(
        kind,
        server=status.name,
        reason=status.reason,
        detail={"needs": status.needs} if status.needs else {},
        since=moment(since) if since is not None else None,
    )


def _held(server: str, held: list[Tool]) -> WaitingItem:
    changed = [tool.history.last_changed for tool in held if tool.history is not None]
    return waiting_item(
        "changed",
        server=server,
        tools=[tool.name for tool in held],
        since=moment(min(changed)) if changed else None,
    )

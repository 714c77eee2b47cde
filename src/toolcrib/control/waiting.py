"""Gathers everything that waits for a person: questions first, then servers and tools, each oldest first."""

from __future__ import annotations

from toolcrib.agent.questions import Open
from toolcrib.approvals.ports import Waiting as Kept
from toolcrib.control.answers.waiting import WaitingItem, WaitingKind
from toolcrib.control.shapes import moment
from toolcrib.host import Host
from toolcrib.schema.servers import ServerState, ServerStatus
from toolcrib.schema.tools import Tool

_OF_STATE: dict[ServerState, WaitingKind] = {
    ServerState.NEEDS_TRUST: "trust",
    ServerState.NEEDS_AUTH: "sign-in",
    ServerState.NEEDS_CONFIG: "value",
}
_ABOUT: dict[str, WaitingKind] = {"call": "call", "sampling": "sampling", "elicitation": "elicitation"}


async def gather_waiting(host: Host) -> list[WaitingItem]:
    """What waits now."""
    questions = [_kept(one) for one in await host.questions.requests.waiting()]
    questions += [_open(one) for one in host.client_requests.questions.waiting()]
    others = [
        _server(host, status, kind)
        for status in host.servers.statuses()
        if (kind := _OF_STATE.get(status.state)) is not None
    ]
    others += [
        _held(server, held)
        for server, tools in host.registry.snapshot.by_server.items()
        if server is not None and (held := [tool for tool in tools if tool.held])
    ]
    return [*[await _titled(host, one) for one in sorted(questions, key=_age)], *sorted(others, key=_age)]


async def _titled(host: Host, item: WaitingItem) -> WaitingItem:
    if item["chat"] is None:
        return item
    return {**item, "chat_title": await host.chats.title(item["chat"])}


def _age(item: WaitingItem) -> tuple[bool, str]:
    return item["since"] is None, item["since"] or ""


def _item(kind: WaitingKind, **known: object) -> WaitingItem:
    item: WaitingItem = {
        "kind": kind,
        "id": None,
        "durable": False,
        "server": None,
        "tool": None,
        "chat": None,
        "chat_title": None,
        "principal": None,
        "reason": "",
        "tools": [],
        "detail": {},
        "since": None,
    }
    item.update(known)  # type: ignore[typeddict-item]
    return item


def _kept(one: Kept) -> WaitingItem:
    asked = one.question
    return _item(
        "call",
        id=asked["id"],
        durable=True,
        server=asked["server"],
        tool=asked["tool"],
        chat=asked["session"],
        principal=asked["principal"],
        reason="; ".join(asked["reasons"]),
        detail=dict(asked),
        since=moment(one.asked_at),
    )


def _open(one: Open) -> WaitingItem:
    asked = one.question
    return _item(
        _ABOUT.get(asked.about, "elicitation"),
        id=asked.id,
        server=asked.server or None,
        tool=asked.detail.get("tool"),
        chat=asked.detail.get("session"),
        principal=asked.detail.get("principal"),
        reason=asked.text,
        detail=dict(asked.detail),
        since=moment(one.asked_at),
    )


def _server(host: Host, status: ServerStatus, kind: WaitingKind) -> WaitingItem:
    since = host.server_events.since(status.name)
    return _item(
        kind, server=status.name, reason=status.reason, since=moment(since) if since is not None else None
    )


def _held(server: str, held: list[Tool]) -> WaitingItem:
    changed = [tool.history.last_changed for tool in held if tool.history is not None]
    return _item(
        "changed",
        server=server,
        tools=[tool.name for tool in held],
        since=moment(min(changed)) if changed else None,
    )

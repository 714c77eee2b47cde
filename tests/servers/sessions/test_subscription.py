"""Changes of a modern server: one stream, reopened when it ends, and nothing missed meanwhile."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import Any

import pytest

from tests.loop_clock import LoopClock
from tests.servers.puppets import MODERN, SILENCE, TOOL, Message, Puppet, Refusal
from toolcrib.servers.sessions import session as subscription

pytestmark = pytest.mark.usefixtures("tidy")
CHANGED = "notifications/tools/list_changed"
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


def promising(*kinds: str, **reactions: Any) -> dict[str, Any]:
    """A modern server that promises to tell of changes in these."""
    capabilities = {"tools": {}, **{kind: {"listChanged": True} for kind in kinds}}
    discovery = {**MODERN["server/discover"], "capabilities": capabilities}
    return {**MODERN, "server/discover": discovery, "subscriptions/listen": SILENCE, **reactions}


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subscription, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(subscription, "LONGEST_PAUSE", 0.05)


async def test_a_server_that_promises_changes_is_listened_to(puppet):
    async with puppet(promising("tools", "prompts", "resources")) as server, server.connect():
        request = await server.expect("subscriptions/listen")
        assert request["params"]["notifications"] == {
            "toolsListChanged": True,
            "promptsListChanged": True,
            "resourcesListChanged": True,
        }
        assert "io.modelcontextprotocol/protocolVersion" in request["params"]["_meta"]
        meta = {SUBSCRIPTION: request["id"]}
        await server.notify("notifications/subscriptions/acknowledged", _meta=meta, notifications={})
        await server.notify(CHANGED, _meta=meta)
        assert await server.noticed(CHANGED) == [{"_meta": meta}]


async def test_a_server_that_promises_nothing_is_left_in_peace(puppet):
    for capability in ({}, {"listChanged": False}, {"listChanged": "yes"}, None):
        discovery = {**MODERN["server/discover"], "capabilities": {"tools": capability, "x": {}}}
        async with puppet({**MODERN, "server/discover": discovery}) as server, server.connect() as session:
            await session.list_tools(timeout=60)
            assert not server.all("subscriptions/listen")


def _end_with_result(server: Puppet, message: Message) -> Any:
    return server.reply(message, {"resultType": "complete"})


def _end_with_notice(server: Puppet, message: Message) -> Any:
    return server.notify("notifications/cancelled", requestId=message["id"], reason="shutting down")


@pytest.mark.parametrize("end", [_end_with_result, _end_with_notice], ids=["result", "cancelled"])
async def test_a_stream_ended_by_the_server_is_opened_again_and_counts_as_a_change(puppet, end):
    def first_only(server: Puppet, message: Message) -> Any:
        return end(server, message) if len(server.all("subscriptions/listen")) == 1 else None

    script = promising("tools", "prompts", **{"subscriptions/listen": first_only})
    async with puppet(script) as server, server.connect() as session:
        await server.expect("subscriptions/listen", 2)
        assert await server.noticed(CHANGED) == [{}]
        assert await server.noticed("notifications/prompts/list_changed") == [{}]
        assert await session.list_tools(timeout=60) == [TOOL]
        assert len(server.all("subscriptions/listen")) == 2


async def test_a_stream_that_ends_again_and_again_is_opened_again_and_again(puppet):
    script = promising("tools", **{"subscriptions/listen": _end_with_result})
    async with puppet(script) as server, server.connect() as session:
        await server.expect("subscriptions/listen", 6)
        assert await session.list_tools(timeout=60) == [TOOL]


async def test_a_server_that_cannot_do_it_after_all_is_not_asked_again(puppet, clock: LoopClock):
    script = promising("tools", **{"subscriptions/listen": Refusal(-32601)})
    async with puppet(script) as server, server.connect() as session:
        await server.expect("subscriptions/listen")
        await session.list_tools(timeout=60)
        await clock.passes(3600)
        await session.list_tools(timeout=60)
        assert len(server.all("subscriptions/listen")) == 1
        assert server.notices == []


async def test_the_stream_ends_with_the_session(puppet):
    async with puppet(promising("tools")) as server:
        async with server.connect():
            await server.expect("subscriptions/listen")
        assert server.notices == []


async def test_a_lost_connection_is_no_change(puppet, clock: LoopClock):
    async with puppet(promising("tools")) as server, server.connect() as session:
        await server.expect("subscriptions/listen")
        os.kill(session.pid, signal.SIGKILL)
        async with asyncio.timeout(60):
            await session.lost
        await clock.passes(3600)
        assert server.notices == []

"""A person pins tools to a chat and bans others from it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.agent.test_loop import offered, told
from tests.conftest import Crib
from toolcrib import Host
from toolcrib.agent.chat import OfferedTools
from toolcrib.approvals.gate import AllowAll
from toolcrib.testing.model import ScriptedModel, calls

MANY = 60


@pytest.fixture
async def host(crib: Crib) -> AsyncIterator[Host]:
    async with crib.open(gate=AllowAll()) as opened:
        for number in range(MANY):

            @opened.tool(name=f"count_{number}")
            def count() -> int:
                """Count sheep in the meadow."""
                return 1

        @opened.tool()
        def paint(colour: str) -> str:
            """Paint the wall."""
            return f"painted {colour}"

        yield opened


async def test_a_pinned_tool_is_offered_whatever_is_asked(host: Host) -> None:
    model = ScriptedModel("Ten.")
    chat = await host.chats.store.create("scripted")
    chat.info = await host.chats.store.choose_tools(chat.id, pinned=["paint", "count_59"])

    await host.agent(model).ask("zzz", chat=chat)

    [offer] = [entry for entry in chat.entries if isinstance(entry, OfferedTools)]
    assert {"paint", "count_59"} <= set(offered(model.requests[0]))
    assert dict(offer.tools)["paint"] == "pinned"
    assert [name for name, _ in offer.tools].count("paint") == 1


async def test_a_banned_tool_is_neither_offered_nor_found_nor_called(host: Host) -> None:
    model = ScriptedModel(
        calls(("search_tools", {"query": "paint the wall"})), calls(("paint", {"colour": "red"})), "No."
    )
    chat = await host.chats.store.create("scripted")
    chat.info = await host.chats.store.choose_tools(chat.id, banned=["paint", "count_*"], pinned=["paint"])

    ended = await host.agent(model).ask("paint the wall", chat=chat)

    assert offered(model.requests[0]) == ["search_tools"]
    assert '"tools": []' in told(model.requests[1])
    assert [(call.tool, call.outcome) for call in ended.calls][1] == ("paint", "denied")
    assert "excluded" in told(model.requests[2])
    assert [record.tool for record in await host.audit.query()] == []

"""Lists of a server: every page of them, but not for ever, and raw as they are."""

from __future__ import annotations

from typing import Any

import pytest

from tests.loop_clock import LoopClock
from tests.servers.puppets import LEGACY, SCRIPTS, TOOL, Message, Puppet, Refusal, with_capabilities
from toolcrib.errors import CallTimeout, PeerError
from toolcrib.servers.sessions import session

pytestmark = pytest.mark.usefixtures("tidy")
ERAS = pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
BOTH_LOOPS = True
SOON = 60.0


@ERAS
async def test_all_pages_are_fetched_in_order(puppet, script):
    def page(server: Puppet, message: Message) -> Any:
        number = int((message.get("params") or {}).get("cursor", 0))
        result: dict[str, Any] = {"tools": [{**TOOL, "name": f"t{number}"}]}
        if number < 4:
            result["nextCursor"] = str(number + 1)
        return server.reply(message, result)

    async with puppet({**script, "tools/list": page}) as server, server.connect() as session:
        tools = await session.list_tools(timeout=SOON)
    assert [tool["name"] for tool in tools] == ["t0", "t1", "t2", "t3", "t4"]


@pytest.mark.parametrize("cursors", [["a"], ["a", "b"]])
async def test_a_server_that_repeats_its_cursor_for_ever_is_left_in_time(puppet, cursors: list[str]):
    def page(server: Puppet, message: Message) -> Any:
        number = len(server.all("tools/list"))
        return server.reply(message, {"tools": [TOOL], "nextCursor": cursors[number % len(cursors)]})

    async with puppet({**LEGACY, "tools/list": page}) as server, server.connect() as session:
        await session.list_tools(timeout=SOON)
        assert len(server.all("tools/list")) == len(cursors) + 1


async def test_a_server_that_never_stops_listing_is_left_in_time(puppet, monkeypatch):
    monkeypatch.setattr(session, "MAX_LISTED", 25)

    def page(server: Puppet, message: Message) -> Any:
        number = len(server.all("tools/list"))
        return server.reply(message, {"tools": [TOOL] * 10, "nextCursor": str(number)})

    async with puppet({**LEGACY, "tools/list": page}) as server, server.connect() as connected:
        assert len(await connected.list_tools(timeout=SOON)) == 25
        assert len(server.all("tools/list")) == 3


async def test_a_server_of_endless_empty_pages_is_left_in_time(puppet, monkeypatch):
    monkeypatch.setattr(session, "MAX_PAGES", 7)

    def page(server: Puppet, message: Message) -> Any:
        return server.reply(message, {"tools": [], "nextCursor": str(len(server.all("tools/list")))})

    async with puppet({**LEGACY, "tools/list": page}) as server, server.connect() as connected:
        assert await connected.list_tools(timeout=SOON) == []
        assert len(server.all("tools/list")) == 7


async def test_the_deadline_is_for_all_pages_together(puppet, clock: LoopClock):
    async def page(server: Puppet, message: Message) -> None:
        pages = len(server.all("tools/list"))
        if pages == 3:
            return
        await clock.passes(25)
        await server.reply(message, {"tools": [], "nextCursor": str(pages)})

    async with puppet({**LEGACY, "tools/list": page}) as server, server.connect() as session:
        listing = session.list_tools(timeout=SOON)
        with pytest.raises(CallTimeout, match="did not list all of its tools within"):
            await clock.outlasts(listing, 15, begun=server.expect("tools/list", 3))
        await server.expect("notifications/cancelled")


@pytest.mark.parametrize("cursor", ["", None, 5, ["a"], {}])
async def test_an_odd_cursor_ends_the_list(puppet, cursor: Any):
    script = {**LEGACY, "tools/list": {"tools": [TOOL], "nextCursor": cursor}}
    async with puppet(script) as server, server.connect() as session:
        assert await session.list_tools(timeout=SOON) == [TOOL]


@ERAS
async def test_a_malformed_tool_passes_through_raw_beside_the_good_ones(puppet, script):
    listed = [TOOL, {"description": "nameless"}, "a string", None, {**TOOL, "x-unknown": {"kept": 1}}]
    async with puppet({**script, "tools/list": {"tools": listed}}) as server, server.connect() as session:
        assert await session.list_tools(timeout=SOON) == listed


@pytest.mark.parametrize("tools", [None, {}, "many", 7])
async def test_a_list_that_is_none_is_empty(puppet, tools: Any):
    async with puppet({**LEGACY, "tools/list": {"tools": tools}}) as server, server.connect() as session:
        assert await session.list_tools(timeout=SOON) == []


@ERAS
async def test_a_server_without_tools_is_not_asked_for_them(puppet, script):
    async with puppet(with_capabilities(script, {"prompts": {}})) as server, server.connect() as session:
        assert await session.list_tools(timeout=SOON) == []
        assert not server.all("tools/list")
        assert session.offers("prompts")


@ERAS
async def test_a_server_that_declares_nothing_at_all_is_asked_and_may_say_no(puppet, script):
    script = with_capabilities(script, {})
    async with puppet(script) as server, server.connect() as session:
        assert await session.list_tools(timeout=SOON) == [TOOL]
    refusing = {**script, "tools/list": Refusal(-32601)}
    async with puppet(refusing) as server, server.connect() as session:
        assert await session.list_tools(timeout=SOON) == []


async def test_a_server_that_promises_tools_and_refuses_to_list_them_has_failed(puppet):
    async with puppet({**LEGACY, "tools/list": Refusal(-32601)}) as server, server.connect() as session:
        with pytest.raises(PeerError):
            await session.list_tools(timeout=SOON)


@ERAS
async def test_other_lists_and_requests_go_the_same_way(puppet, script):
    script = {
        **script,
        "resources/list": {"resources": [{"uri": "a"}]},
        "resources/templates/list": {"resourceTemplates": [{"uriTemplate": "b"}]},
        "prompts/list": {"prompts": [{"name": "c"}]},
        "completion/complete": {"completion": {"values": ["d"]}},
    }
    async with puppet(script) as server, server.connect() as session:
        assert await session.list_all("resources", timeout=SOON) == [{"uri": "a"}]
        found = await session.list_all("resources/templates", timeout=SOON, key="resourceTemplates")
        assert found == [{"uriTemplate": "b"}]
        assert await session.list_all("prompts", timeout=SOON) == [{"name": "c"}]
        done = await session.request("completion/complete", {"ref": {}}, timeout=SOON)
        assert done["completion"]["values"] == ["d"]

"""Sessions over our remote transports with servers of the official SDK: both eras, every way of answering."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.loop_clock import LoopClock
from tests.servers.remote.sdk import sdk_server
from toolcrib.errors import CallTimeout, ConnectionLost, RemoteUnreachable, ServerUnavailable
from toolcrib.servers.sessions.negotiation import Era
from toolcrib.servers.sessions.session import Session

VERSIONS: dict[Era, str] = {"modern": "2026-07-28", "legacy": "2025-11-25"}
ERAS: list[Era] = ["modern", "legacy"]
pytestmark = pytest.mark.acceptance  # starts many programs, one after the other
MODES = ["http", "json", "stateless", "sse"]


async def call(session: Session, name: str, **arguments: Any) -> str:
    result = await session.call_tool(name, arguments, timeout=30)
    return str(result["content"][0]["text"])


@pytest.mark.parametrize("mode", MODES)
async def test_every_way_of_serving_answers_in_both_eras(mode: str):
    async with sdk_server(mode) as server:
        for era in ERAS:
            async with server.connect(era) as session:
                assert session.agreement.version == VERSIONS[era]
                tools = await session.list_tools(timeout=30)
                assert {"echo", "big", "hang"} <= {tool["name"] for tool in tools}
                assert await call(session, "echo", text="hello ☃") == "hello ☃"
                assert len(await call(session, "big", size=5_000_000)) == 5_000_000
                answers = await asyncio.gather(*(call(session, "echo", text=str(n)) for n in range(50)))
                assert answers == [str(n) for n in range(50)]


@pytest.mark.parametrize("mode", ["http", "sse"])
@pytest.mark.parametrize("era", ERAS)
async def test_progress_is_heard_and_a_late_call_leaves_the_session_usable(
    mode: str, era: Era, clock: LoopClock
):
    async with sdk_server(mode) as server, server.connect(era) as session:
        steps: list[float] = []
        await session.call_tool(
            "steps", {"count": 3}, timeout=30, on_progress=lambda done, total, text: steps.append(done)
        )
        assert steps == [1, 2, 3]
        begun = asyncio.Event()
        hanging = session.call_tool("hang", {}, timeout=30, on_progress=lambda *_: begun.set())
        with pytest.raises(CallTimeout):
            await clock.outlasts(hanging, 30, begun=begun.wait())
        assert await call(session, "echo", text="still here") == "still here"


@pytest.mark.parametrize("mode", ["http", "sse"])
async def test_a_legacy_server_is_heard_between_the_calls(mode: str):
    noticed = asyncio.Event()

    def on_notice(method: str, params: dict[str, Any]) -> None:
        if method == "notifications/tools/list_changed":
            noticed.set()

    async with sdk_server(mode) as server, server.connect("legacy", on_notice=on_notice) as session:
        async with asyncio.timeout(30):
            while not noticed.is_set():  # the listening stream may open a moment after the handshake
                await call(session, "announce")
                await asyncio.wait([asyncio.ensure_future(noticed.wait())], timeout=0.2)


async def test_a_server_that_hangs_up_on_purpose_is_asked_again_for_the_answer():
    async with sdk_server("polling") as server, server.connect("legacy") as session:
        assert await call(session, "hang_up") == "answered after all"


async def test_a_modern_server_restarted_while_idle_is_not_even_noticed():
    async with sdk_server("http") as server, server.connect("modern") as session:
        assert await call(session, "echo", text="before") == "before"
        await server.kill()
        await server.start()
        assert await call(session, "echo", text="after") == "after"
        assert not session.lost.done()


async def test_a_legacy_server_restarted_while_idle_is_a_lost_session():
    async with sdk_server("http") as server:
        async with server.connect("legacy") as session:
            await call(session, "echo", text="before")
            await server.kill()
            await server.start()
            with pytest.raises(ConnectionLost, match="ended the session"):
                await call(session, "echo", text="after")
            assert session.lost.done()
        async with server.connect("legacy") as session:
            assert await call(session, "echo", text="new session") == "new session"


@pytest.mark.parametrize("mode", ["http", "json", "sse"])
@pytest.mark.parametrize("era", ERAS)
async def test_a_server_killed_during_a_call_fails_that_call_and_refuses_the_next(mode: str, era: Era):
    async with sdk_server(mode) as server, server.connect(era) as session:
        started = asyncio.Event()
        hanging = asyncio.ensure_future(
            session.call_tool("hang", {}, timeout=60, on_progress=lambda *_: started.set())
        )
        if mode == "json":  # a body tells no progress; an answer to a later call shows that it was taken
            await call(session, "echo", text="x")
        else:
            async with asyncio.timeout(30):
                await started.wait()
        await server.kill()
        with pytest.raises(ConnectionLost):
            await hanging
        with pytest.raises(ServerUnavailable):
            await call(session, "echo", text="x")


async def test_a_server_that_is_down_from_the_start_says_so(unused_tcp_port: int):
    from tests.servers.remote.sdk import SdkServer

    for mode in ("http", "sse"):
        with pytest.raises(RemoteUnreachable, match="refused"):
            async with SdkServer(mode, port=unused_tcp_port).connect("modern"):
                pass

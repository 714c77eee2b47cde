"""Sessions over stdio with servers of the official SDK, in both eras."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.servers.children import eventually
from tests.servers.puppets import PROGRAMS
from toolcrib.errors import CallTimeout, PeerError
from toolcrib.servers.sessions import negotiation
from toolcrib.servers.sessions.handlers import Handlers
from toolcrib.servers.sessions.negotiation import Era
from toolcrib.servers.sessions.session import Session, connect
from toolcrib.servers.transport import LinkContext
from toolcrib.servers.transports import stdio

pytestmark = [pytest.mark.usefixtures("tidy"), pytest.mark.acceptance]
ERAS = pytest.mark.parametrize("era", ["modern", "legacy"])
SLOWLY = 60.0
CHANGED = "notifications/tools/list_changed"


@asynccontextmanager
async def sdk_server(kind: str, era: Era, log: Path | None = None, **options: Any) -> AsyncIterator[Session]:
    """A session in this era; the era is not remembered but found out, except that legacy is not probed."""
    spec = stdio.StdioSpec(command=sys.executable, args=("-E", str(PROGRAMS / "sdk_server.py"), kind))
    context = LinkContext(server=kind, log_path=log, environment={"PATH": os.defpath})
    remembered = "legacy" if era == "legacy" else None
    async with connect(
        kind, lambda inbox: stdio.open(spec, inbox, context), era=remembered, timeout=SLOWLY, **options
    ) as session:
        assert session.agreement.era == era
        yield session


async def call(session: Session, name: str, **arguments: Any) -> str:
    result = await session.call_tool(name, arguments, timeout=SLOWLY)
    return str(result["content"][0]["text"])


async def elicit(server: str, params: dict[str, Any]) -> dict[str, Any]:
    if params.get("mode") == "url":
        return {"action": "accept"}
    assert params["requestedSchema"]["properties"]["name"]["type"] == "string"
    return {"action": "accept", "content": {"name": "Ada"}}


async def sample(server: str, params: dict[str, Any]) -> dict[str, Any]:
    assert params["messages"][0]["content"]["text"] == "Say hello"
    return {"role": "assistant", "content": {"type": "text", "text": "hello"}, "model": "m"}


async def roots(server: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"roots": [{"uri": "file:///a"}, {"uri": "file:///b"}]}


HANDLERS = Handlers(elicit=elicit, sample=sample, roots=roots)


@ERAS
async def test_tools_are_listed_and_answer_with_every_kind_of_content(era: Era):
    async with sdk_server("mcpserver", era) as session:
        agreement = session.agreement
        assert agreement.version == {"modern": "2026-07-28", "legacy": "2025-11-25"}[era]
        assert agreement.server_info["name"] == "high"
        assert agreement.server_info["version"] == "2.0"
        assert agreement.instructions == "Be gentle."
        names = [tool["name"] for tool in await session.list_tools(timeout=SLOWLY)]
        assert {"add", "show", "hang"} <= set(names)
        result = await session.call_tool("add", {"a": 2, "b": 3}, timeout=SLOWLY)
        assert result["structuredContent"] == {"result": 5}
        shown = (await session.call_tool("show", {}, timeout=SLOWLY))["content"]
        assert [part["type"] for part in shown] == ["text", "image", "audio", "resource_link", "resource"]
        assert shown[0]["text"] == "text ☃"
        failed = await session.call_tool("fail", {}, timeout=SLOWLY)
        assert failed["isError"] is True
        sums = await asyncio.gather(*(call(session, "add", a=n, b=1) for n in range(100)))
        assert sums == [str(n + 1) for n in range(100)]


@ERAS
async def test_resources_and_prompts_are_read(era: Era):
    async with sdk_server("mcpserver", era) as session:
        (resource,) = await session.list_all("resources", timeout=SLOWLY)
        read = await session.ask("resources/read", {"uri": resource["uri"]}, timeout=SLOWLY)
        assert read["contents"][0]["text"] == "a note"
        (prompt,) = await session.list_all("prompts", timeout=SLOWLY)
        got = await session.ask(
            "prompts/get", {"name": prompt["name"], "arguments": {"name": "Ada"}}, timeout=SLOWLY
        )
        assert got["messages"][0]["content"]["text"] == "Hello Ada"
        with pytest.raises(PeerError):
            await session.request("no/such/method", timeout=SLOWLY)
        await session.check(timeout=SLOWLY)


@ERAS
async def test_questions_are_answered_on_the_way(era: Era):
    async with sdk_server("mcpserver", era, handlers=HANDLERS) as session:
        assert await call(session, "greet") == "Hello Ada"
        assert await call(session, "think") == "The model said hello"
        assert await call(session, "where") == "file:///a, file:///b"


@ERAS
async def test_progress_logging_and_changes_are_heard(era: Era):
    notices: list[tuple[str, dict[str, Any]]] = []
    steps: list[Any] = []
    async with sdk_server("mcpserver", era, on_notice=lambda *notice: notices.append(notice)) as session:
        await session.call_tool(
            "steps",
            {"count": 3},
            timeout=SLOWLY,
            on_progress=lambda *step: steps.append(step),
            meta={"io.modelcontextprotocol/logLevel": "info"} if era == "modern" else None,
        )
        assert steps == [(1.0, 3.0, "step 1"), (2.0, 3.0, "step 2"), (3.0, 3.0, "step 3")]
        assert [params["data"] for method, params in notices if method == "notifications/message"] == [
            "all steps done"
        ]
        if era == "modern":
            await eventually(lambda: "notifications/subscriptions/acknowledged" in dict(notices))
        await call(session, "grow")
        await eventually(lambda: CHANGED in dict(notices))
        assert "grown" in [tool["name"] for tool in await session.list_tools(timeout=SLOWLY)]


@ERAS
async def test_a_cancelled_or_late_call_is_cancelled_in_the_server(era: Era, tmp_path: Path):
    log = tmp_path / "server.log"
    async with sdk_server("mcpserver", era, log) as session:
        began = asyncio.Event()
        hanging = asyncio.ensure_future(
            session.call_tool("hang", {}, timeout=SLOWLY, on_progress=lambda *step: began.set())
        )
        async with asyncio.timeout(SLOWLY):
            await began.wait()
        hanging.cancel()
        with pytest.raises(asyncio.CancelledError):
            await hanging
        await eventually(lambda: log.exists() and log.read_text().count("hang was cancelled") == 1)
        with pytest.raises(CallTimeout):
            await session.call_tool("hang", {}, timeout=3)  # long enough that it begins
        await eventually(lambda: log.read_text().count("hang was cancelled") == 2)
        assert await call(session, "add", a=1, b=1) == "2"


@ERAS
async def test_a_low_level_server_is_read_page_by_page_and_nothing_it_says_is_lost(era: Era):
    notices: list[str] = []
    async with sdk_server("lowlevel", era, on_notice=lambda method, _: notices.append(method)) as session:
        tools = await session.list_tools(timeout=SLOWLY)
        assert [tool["name"] for tool in tools] == ["first", "second", "third"]
        assert tools[0]["inputSchema"] == {"type": "object", "$defs": {"x": {"const": 1}}, "x-kept": [1]}
        if era == "modern":
            await eventually(lambda: "notifications/subscriptions/acknowledged" in notices)
        result = await session.call_tool("first", {}, timeout=SLOWLY)
        assert result["structuredContent"] == {"n": 2**60}
        assert result["_meta"]["vendor/key"] == 1
        await eventually(lambda: CHANGED in notices)


async def test_a_low_level_server_may_ask_for_a_visit_and_then_for_patience():
    async with sdk_server("lowlevel", "modern", handlers=HANDLERS) as session:
        assert await call(session, "second") == "started+visited"


async def test_a_server_that_starts_slower_than_the_probe_waits_is_still_modern(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(negotiation, "PROBE_PATIENCE", 0.05)
    async with sdk_server("lowlevel", "modern") as session:
        assert len(await session.list_tools(timeout=SLOWLY)) == 3

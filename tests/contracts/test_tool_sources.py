"""What every tool source keeps, whichever file of `tools/sources` it lives in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from toolcrib import plugins
from toolcrib.errors import CallTimeout
from toolcrib.schema.tools import Principal, Tool, ToolCall, ToolResult
from toolcrib.serverkit.context import ToolContext
from toolcrib.servers.tool_list import DefinitionCheck
from toolcrib.tools.ports import OnProgress, ToolSource
from toolcrib.tools.registry import Registry
from toolcrib.tools.sources.inline import InlineServer, InlineTools
from toolcrib.tools.sources.mcp import McpTools
from toolcrib.tools.sources.native import NativeTools


class Work:
    """Two functions that every source under test offers: one answers, one waits until it is cancelled."""

    def __init__(self) -> None:
        self.started = asyncio.Event()
        self.cancelled = asyncio.Event()

    def functions(self) -> list[Callable[..., Any]]:
        async def answer(value: str, context: ToolContext) -> str:
            """Give back what came in."""
            context.progress(1, 1, "done")
            return value

        async def hang() -> None:
            """Wait for ever."""
            self.started.set()
            try:
                await asyncio.Event().wait()
            finally:
                self.cancelled.set()

        return [answer, hang]


class InProcessServers:
    """Servers without processes, as the pool would offer them."""

    def __init__(self, inline: InlineTools, registry: Registry) -> None:
        self._inline = inline
        self._registry = registry

    async def call_tool(
        self,
        server: str,
        tool: str,
        arguments: dict[str, Any],
        *,
        timeout: float | None,
        on_progress: OnProgress | None = None,
        session: str | None = None,
        repeatable: bool = False,
        check: DefinitionCheck | None = None,
    ) -> ToolResult:
        found = self._registry.snapshot.find(server, tool)
        assert found is not None
        call = ToolCall(id="1", tool=found, arguments=arguments, principal=Principal(), timeout=timeout)
        return await self._inline.call(call, on_progress)


def native(work: Work, registry: Registry) -> ToolSource:
    source = NativeTools()
    for function in work.functions():
        source.tool()(function)
    return source


def inline(work: Work, registry: Registry) -> InlineTools:
    server = InlineServer("bench")
    for function in work.functions():
        server.tool()(function)
    return InlineTools([server])


def mcp(work: Work, registry: Registry) -> ToolSource:
    behind = inline(work, registry)
    for server, definitions in behind.tools().items():
        registry.put(server, "mcp", definitions)
    return McpTools(InProcessServers(behind, registry))


BUILDERS: dict[str, Callable[[Work, Registry], ToolSource]] = {"native": native, "inline": inline, "mcp": mcp}


@pytest.fixture
def work() -> Work:
    return Work()


@pytest.fixture
def registry() -> Registry:
    return Registry()


@pytest.fixture(params=plugins.names("toolcrib.tools.sources"))
def source(request: pytest.FixtureRequest, work: Work, registry: Registry) -> ToolSource:
    built = BUILDERS[request.param](work, registry)
    assert built.id == request.param
    for server, definitions in built.tools().items():
        assert registry.put(server, built.origin, definitions) == []
    return built


def call_of(registry: Registry, name: str, arguments: dict[str, Any], timeout: float | None = 10) -> ToolCall:
    tools: dict[str, Tool] = {tool.definition.name: tool for tool in registry.snapshot.tools.values()}
    return ToolCall(
        id="1", tool=tools[name], arguments=arguments, principal=Principal(name="test"), timeout=timeout
    )


async def test_its_tools_carry_its_origin(source: ToolSource, registry: Registry) -> None:
    assert {tool.origin for tool in registry.snapshot.tools.values()} == {source.origin}


async def test_it_answers_with_a_raw_result_and_tells_of_progress(
    source: ToolSource, registry: Registry
) -> None:
    heard: list[Any] = []

    result = await source.call(
        call_of(registry, "answer", {"value": "hello"}), lambda *report: heard.append(report)
    )

    assert result["content"] == [{"type": "text", "text": "hello"}]
    assert heard == [(1, 1, "done")]


async def test_it_keeps_the_deadline_and_ends_what_it_started(
    source: ToolSource, registry: Registry, work: Work
) -> None:
    with pytest.raises(CallTimeout):
        await source.call(call_of(registry, "hang", {}, timeout=0.05), None)

    await asyncio.wait_for(work.cancelled.wait(), 60)


async def test_it_passes_a_cancellation_on(source: ToolSource, registry: Registry, work: Work) -> None:
    task = asyncio.create_task(source.call(call_of(registry, "hang", {}, timeout=None), None))
    await asyncio.wait_for(work.started.wait(), 60)

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(work.cancelled.wait(), 60)


async def test_it_leaves_the_arguments_as_they_were(source: ToolSource, registry: Registry) -> None:
    arguments = {"value": "hello"}

    await source.call(call_of(registry, "answer", arguments), None)

    assert arguments == {"value": "hello"}


async def test_it_names_a_timeout_or_none_for_each_tool(source: ToolSource, registry: Registry) -> None:
    for tool in registry.snapshot.tools.values():
        seconds = source.default_timeout(tool)
        assert seconds is None or seconds > 0

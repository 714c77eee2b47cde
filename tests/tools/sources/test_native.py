from __future__ import annotations

import asyncio

import pytest

from tests.loop_clock import LoopClock
from tests.tools.workshop import Workshop
from toolcrib.errors import CallTimeout, UnknownTool, UsageError
from toolcrib.tools.sources.native import NativeTools


async def test_a_typed_function_becomes_a_tool_under_its_bare_name() -> None:
    native = NativeTools()

    @native.tool(read_only=True)
    def word_count(text: str) -> str:
        """Count the words of a text."""
        return str(len(text.split()))

    workshop = Workshop()
    door = workshop.open(native)
    tool = workshop.registry.resolve("word_count")

    assert (tool.server, tool.origin) == (None, "native")
    assert tool.definition.description == "Count the words of a text."
    assert tool.definition.read_only
    assert tool.definition.input_schema["required"] == ["text"]
    assert (await door.call("word_count", {"text": "a b c"}))["content"][0]["text"] == "3"
    assert (await door.call("mcp__word_count", {"text": "a"}))["content"][0]["text"] == "1"
    assert word_count("still a function") == "3"


@pytest.mark.parametrize("name", ["demo__add", "_hidden", "has space", "mcp__x"])
def test_a_name_that_could_be_mistaken_is_refused(name: str) -> None:
    native = NativeTools()

    with pytest.raises(UsageError, match="native tool"):
        native.tool(name=name)(lambda: None)


def test_a_name_is_given_once() -> None:
    native = NativeTools()
    native.tool(name="grep")(lambda: None)

    with pytest.raises(UsageError, match="already"):
        native.tool(name="grep")(lambda: None)


async def test_its_deadline_holds_when_the_caller_names_none(clock: LoopClock) -> None:
    native, started = NativeTools(timeout=30), asyncio.Event()

    @native.tool()
    async def hang() -> None:
        """Wait for ever."""
        started.set()
        await asyncio.Event().wait()

    workshop = Workshop()
    door = workshop.open(native)

    with pytest.raises(CallTimeout):
        await clock.outlasts(door.call("hang"), 30, begun=started.wait())


async def test_a_tool_that_someone_else_registered_is_not_run() -> None:
    native = NativeTools()
    workshop = Workshop()
    door = workshop.open(native)
    workshop.registry.put(None, "native", [{"name": "ghost"}])

    with pytest.raises(UnknownTool):
        await door.call("ghost")

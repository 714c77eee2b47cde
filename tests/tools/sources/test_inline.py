from __future__ import annotations

import pytest

from tests.tools.workshop import Workshop
from toolcrib.errors import UnknownTool, UsageError
from toolcrib.tools.sources.inline import InlineServer, InlineTools


async def test_tools_stand_under_a_server_s_name_with_no_process_behind_them(workshop: Workshop) -> None:
    @workshop.bench.tool(name="say-hello", idempotent=True)
    async def hello(name: str = "you") -> str:
        """Greet someone."""
        return f"hello {name}"

    door = workshop.open()
    tool = workshop.registry.resolve("bench__say-hello")

    assert (tool.server, tool.origin, tool.definition.repeatable) == ("bench", "inline", True)
    assert (await door.call("bench__say-hello"))["content"][0]["text"] == "hello you"


async def test_a_function_that_raises_answers_with_an_error(workshop: Workshop) -> None:
    @workshop.bench.tool()
    def divide(a: float, b: float) -> float:
        """Divide."""
        return a / b

    door = workshop.open()

    result = await door.call("bench__divide", {"a": 1, "b": 0})

    assert result["isError"]
    assert workshop.ledger.last.outcome == "tool_error"


def test_names_are_given_once() -> None:
    server = InlineServer("bench")
    server.tool(name="x")(lambda: None)
    source = InlineTools([server])

    with pytest.raises(UsageError, match="already"):
        server.tool(name="x")(lambda: None)
    with pytest.raises(UsageError, match="already"):
        source.add(InlineServer("bench"))
    source.add(InlineServer("other"))
    assert list(source.tools()) == ["bench", "other"]


async def test_a_tool_that_is_gone_is_unknown(workshop: Workshop) -> None:
    door = workshop.open()
    workshop.registry.put("bench", "inline", [{"name": "ghost"}])

    with pytest.raises(UnknownTool):
        await door.call("bench__ghost")

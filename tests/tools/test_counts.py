"""How often tools are called and how long that takes, in little and bounded memory."""

from __future__ import annotations

import asyncio

import pytest

from tests.tools.workshop import Workshop
from toolcrib.errors import InvalidArguments, UnknownTool
from toolcrib.schema.tools import Tool, ToolDefinition
from toolcrib.tools.caller import STEP, WINDOW, Counted, Counts


def tool(name: str, server: str | None = "bench") -> Tool:
    definition = ToolDefinition(name=name, raw={"name": name})
    return Tool(name=name, server=server, origin="mcp", definition=definition, hash="", tokens=0)


def took(counts: Counts, one: Tool, *times: float) -> None:
    for ms in times:
        counts.began(one).ended("ok", ms)


def test_a_server_nobody_called_has_no_times() -> None:
    counted = Counts().of("bench")

    assert (counted.total, counted.p50_ms, counted.max_ms, counted.tools) == (0, None, None, ())


def test_percentiles_are_at_most_a_step_too_high() -> None:
    counts = Counts()

    took(counts, tool("saw"), *range(1, 101))

    counted = counts.of("bench")
    assert counted.p50_ms is not None
    assert counted.p95_ms is not None
    assert 50 <= counted.p50_ms <= 50 * STEP
    assert 95 <= counted.p95_ms <= 95 * STEP
    assert counted.max_ms == 100


def test_the_longest_call_has_a_time_however_long_it_was() -> None:
    counts = Counts()

    took(counts, tool("saw"), 3_600_000)

    assert counts.of("bench").p95_ms == counts.of("bench").max_ms == 3_600_000


def test_old_times_make_room_for_new_ones_and_numbers_stay() -> None:
    counts = Counts()
    took(counts, tool("saw"), *([5000.0] * WINDOW))

    took(counts, tool("saw"), *([1.0] * 2 * WINDOW))

    counted = counts.of("bench")
    assert counted.total == 3 * WINDOW
    assert counted.max_ms == 1


def test_each_server_and_tool_has_its_own_numbers() -> None:
    counts = Counts()
    took(counts, tool("saw"), 1, 1)
    took(counts, tool("drill"), 1)
    took(counts, tool("lamp", "desk"), 1)

    assert {tool.name: tool.total for tool in counts.of("bench").tools} == {"drill": 1, "saw": 2}
    assert (counts.of("bench").total, counts.of("desk").total) == (3, 1)


def test_tools_beyond_the_bound_are_counted_with_their_servers_others() -> None:
    counts = Counts(max_tools=3)

    for number in range(1000):
        took(counts, tool(f"tool_{number}"), 1)

    assert counts.of("bench").total == 1000
    assert [tool.name for tool in counts.of("bench").tools] == ["tool_997", "tool_998", "tool_999"]


def test_a_tool_that_is_being_called_keeps_its_place() -> None:
    counts = Counts(max_tools=2)
    busy = counts.began(tool("busy"))

    for number in range(10):
        took(counts, tool(f"tool_{number}"), 1)
    busy.ended("ok", 1)

    assert [tool.total for tool in counts.of("bench").tools if tool.name == "busy"] == [1]


def test_a_removed_server_is_forgotten() -> None:
    counts = Counts()
    took(counts, tool("saw"), 1)

    counts.forget("bench")

    assert counts.of("bench").total == 0


async def test_the_door_counts_how_calls_end() -> None:
    shop = Workshop()
    release, begun = asyncio.Event(), list[int]()

    @shop.bench.tool()
    async def wait(seconds: int = 0) -> str:
        """Wait to be released."""
        begun.append(seconds)
        await release.wait()
        return "done"

    door = shop.open()
    waiting = [asyncio.create_task(door.call("bench__wait")) for _ in range(3)]
    async with asyncio.timeout(30):
        while len(begun) < 3:  # noqa: ASYNC110 - they have nothing to wait for
            await asyncio.sleep(0)
    assert door.counts.of("bench").in_flight == 3
    waiting[0].cancel()
    await asyncio.gather(waiting[0], return_exceptions=True)
    release.set()
    await asyncio.gather(*waiting[1:])
    with pytest.raises(InvalidArguments):
        await door.call("bench__wait", {"seconds": "many"})
    with pytest.raises(UnknownTool):
        await door.call("bench__hurry")

    (counted,) = (tool for tool in door.counts.of("bench").tools if tool.name == "bench__wait")

    assert isinstance(counted, Counted)
    assert (counted.total, counted.errors, counted.in_flight) == (4, 1, 0)

"""What a collector is told of calls and servers, by a real host."""

from __future__ import annotations

import asyncio
import json
import socket

import pytest

from tests.loop_clock import settle
from tests.telemetry.collector import Collector, plain
from toolcrib.errors import CallTimeout, ConnectionLost, InvalidArguments, PeerError
from toolcrib.schema.servers import ServerState, ServerStatus

OK, ERROR = 1, 2
CLIENT = 3


async def test_a_call_is_a_span_with_the_names_of_the_conventions(
    crib, telling, collector: Collector
) -> None:
    telling("notes")
    async with crib.open() as host:
        await host.ready()
        async with host.session("agent") as principal:
            await host.call("notes__meta", {"secret": "private-detail"}, principal=principal)

    span = collector.span("tools/call notes__meta")
    assert span.kind == CLIENT
    assert not span.parent_span_id
    assert plain(span.attributes) == {
        "mcp.method.name": "tools/call",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "notes__meta",
        "toolcrib.server": "notes",
        "toolcrib.principal": "agent",
        "mcp.session.id": principal.session,
    }
    assert collector.resources[0]["service.name"] == "toolcrib"


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_the_server_is_told_of_the_span(crib, telling, collector: Collector, era: str) -> None:
    telling("notes", era)
    async with crib.open() as host:
        await host.ready()
        result = await host.call("notes__meta")

    span = collector.span("tools/call notes__meta")
    meta = json.loads(result["content"][0]["text"])
    assert meta["traceparent"].startswith(f"00-{span.trace_id.hex()}-{span.span_id.hex()}-")


async def test_a_failed_call_says_what_kind_of_failure_and_nothing_else(
    crib, telling, collector: Collector
) -> None:
    telling("notes")
    async with crib.open() as host:
        await host.ready()
        await host.call("notes__fail", {"secret": "private-detail"})
        with pytest.raises(PeerError):
            await host.call("notes__refuse")
        with pytest.raises(CallTimeout):
            await host.call("notes__hang", timeout=0.1)
        with pytest.raises(ConnectionLost):
            await host.call("notes__die")

    kinds = {
        tool: plain(collector.span(f"tools/call notes__{tool}").attributes)["error.type"]
        for tool in ("fail", "refuse", "hang", "die")
    }
    assert kinds == {"fail": "tool_error", "refuse": "-32050", "hang": "timeout", "die": "connection_lost"}
    assert {span.status.code for span in collector.spans} == {ERROR}
    assert not [body for body in collector.bodies if b"private-detail" in body]


async def test_a_call_that_is_given_up_is_told_as_cancelled(crib, telling, collector: Collector) -> None:
    telling("notes")
    async with crib.open() as host:
        await host.ready()
        call = asyncio.create_task(host.call("notes__hang"))
        await settle()
        await host.call("notes__meta")  # the server reads this one after the other
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    assert plain(collector.span("tools/call notes__hang").attributes)["error.type"] == "cancelled"


async def test_a_native_tool_is_a_span_of_this_process(crib, collector: Collector) -> None:
    async with crib.open() as host:

        @host.tool()
        def add(a: int, b: int) -> int:
            """Add."""
            return a + b

        await host.call("add", {"a": 1, "b": 2})
        with pytest.raises(InvalidArguments):
            await host.call("add", {"a": "private-detail"})

    spans = [span for span in collector.spans if span.name == "execute_tool add"]
    assert [plain(span.attributes).get("error.type") for span in spans] == [None, "invalid_arguments"]
    assert "mcp.method.name" not in plain(spans[0].attributes)
    assert not [body for body in collector.bodies if b"private-detail" in body]


async def test_numbers_of_calls_and_states_of_servers_are_sent(
    crib, telling, collector: Collector, until
) -> None:
    telling("notes")
    async with crib.open() as host:
        await host.ready()
        for _ in range(3):
            await host.call("notes__meta")
        with pytest.raises(ConnectionLost):
            await host.call("notes__die")
        await until(host, lambda: back_again(host.servers.status("notes")))

    durations = {labels.get("error.type"): point.count for labels, point in histogram(collector)}
    in_flight = [point.as_int for _, point in collector.points("toolcrib.calls.in_flight")]
    states = {labels["toolcrib.server.state"]: value(point) for labels, point in states_of(collector)}
    assert durations == {None: 3, "connection_lost": 1}
    assert in_flight == [0]
    assert states["ready"] == 1
    assert {count for state, count in states.items() if state != "ready"} == {0}
    assert [point.as_int for _, point in collector.points("toolcrib.server.restarts")] == [1]


async def test_a_collector_that_hangs_keeps_no_host_from_ending(crib, telling, monkeypatch) -> None:
    telling("notes")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "300")
        async with asyncio.timeout(60):
            async with crib.open() as host:
                await host.ready()
                await host.call("notes__meta")


async def test_traces_alone_can_be_sent(crib, telling, collector: Collector, monkeypatch) -> None:
    monkeypatch.setenv("OTEL_METRICS_EXPORTER", "none")
    telling("notes")
    async with crib.open() as host:
        await host.ready()
        await host.call("notes__meta")

    assert collector.span("tools/call notes__meta")
    assert collector.metrics == []


def back_again(status: ServerStatus) -> bool:
    return status.state == ServerState.READY and status.restarts == 1


def histogram(collector: Collector):
    return collector.points("mcp.client.operation.duration")


def states_of(collector: Collector):
    return collector.points("toolcrib.server.state")


def value(point) -> float:
    return getattr(point, point.WhichOneof("value"))

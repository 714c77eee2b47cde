"""A client's trace goes on through the gateway to the server behind it, whether we trace or not."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest

from tests.telemetry.collector import Collector
from toolcrib.telemetry.propagation import read_trace

DEADLINE = 60.0
TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
GIVEN = {
    "traceparent": f"00-{TRACE}-{PARENT}-01",
    "tracestate": "rojo=00f067aa0ba902b7",
    "baggage": "user=ada",
}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


@asynccontextmanager
async def serving(crib) -> AsyncIterator[str]:
    """The gateway as a process of its own; yields its address."""
    crib.write()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "toolcrib", "serve", "--json"),
        env={**os.environ, "TOOLCRIB_HOME": str(crib.home)},
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        line = await asyncio.wait_for(process.stdout.readline(), DEADLINE)
        url = json.loads(line)["url"]
        await until_ready(url)
        yield url
        process.send_signal(signal.SIGTERM)
        await asyncio.wait_for(process.wait(), DEADLINE)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def until_ready(url: str) -> None:
    """A server that takes long to start keeps a call waiting for a few seconds only."""
    async with asyncio.timeout(DEADLINE), httpx2.AsyncClient(trust_env=False, timeout=DEADLINE) as client:
        health = url.replace("/mcp", "/healthz")
        while (await client.get(health)).json()["servers"] != {"ready": 1}:  # noqa: ASYNC110
            await asyncio.sleep(0.05)


async def call(url: str, tool: str, meta: dict[str, Any]) -> dict[str, Any]:
    """Call a tool as a client of the newer era; returns the `_meta` that the server saw."""
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": tool,
    }
    params = {"name": tool, "arguments": {}, "_meta": {**META, **meta}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    async with httpx2.AsyncClient(trust_env=False, timeout=DEADLINE) as client:
        answer = (await client.post(url, json=message, headers=headers)).json()
    return json.loads(answer["result"]["content"][0]["text"])


async def test_a_traced_call_hangs_between_the_client_and_the_server(
    crib, telling, collector: Collector
) -> None:
    telling("notes")
    async with serving(crib) as url:
        seen = await call(url, "notes__meta", GIVEN)

    span = collector.span("tools/call notes__meta")
    assert (span.trace_id.hex(), span.parent_span_id.hex()) == (TRACE, PARENT)
    assert seen["traceparent"].startswith(f"00-{TRACE}-{span.span_id.hex()}-")
    assert (seen["tracestate"], seen["baggage"]) == (GIVEN["tracestate"], GIVEN["baggage"])


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_without_telemetry_the_server_sees_the_clients_own_trace(crib, telling, era: str) -> None:
    telling("notes", era)
    async with serving(crib) as url:
        traced = await call(url, "notes__meta", GIVEN)
        untraced = await call(url, "notes__meta", {})

    assert {key: traced[key] for key in GIVEN} == GIVEN
    assert not set(untraced) & set(GIVEN)


@pytest.mark.parametrize(
    "meta",
    [
        {},
        {"traceparent": 7},
        {"traceparent": ""},
        {"traceparent": f"00-{TRACE}-{PARENT}"},
        {"traceparent": f"00-{TRACE}-{PARENT}-01\n"},
        {"traceparent": f"00-{TRACE.upper()}-{PARENT}-01"},
        {"tracestate": "alone=1"},
    ],
)
def test_what_is_no_trace_is_not_passed_on(meta: dict[str, Any]) -> None:
    assert read_trace(meta) is None


def test_what_is_too_long_to_go_with_a_trace_is_left_out() -> None:
    parent = GIVEN["traceparent"]

    assert read_trace({"traceparent": parent, "tracestate": "x" * 513, "baggage": 7}) == {
        "traceparent": parent
    }

"""Servers that misbehave while they are used. Numbers are those of the fault list."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import resource
import signal
import sys
import time
from pathlib import Path

import pytest

from tests.faults.flow import Flow
from toolcrib.errors import CallTimeout, ConnectionLost, ServerUnavailable
from toolcrib.features.workflows.planner.planner import PlannerTools
from toolcrib.gateway.gateway import Gateway
from toolcrib.operations.ranking import search
from toolcrib.operations.tools import find_tools
from toolcrib.schema.servers import ServerState
from toolcrib.servers.health import FLOODS

FLOODING = Path(__file__).parents[2] / "benchmarks/flooding_server.py"
NOT_ANSWERING = "server is not answering; models get this tool again when it does"
QUICKLY = {"firstDelay": 0.01, "longestDelay": 0.05}


async def test_08_half_a_line_costs_only_that_call_its_deadline(crib):
    crib.server("halving", "half-line", timeouts={"call": 1})
    async with crib.open() as host:
        await host.ready()
        with pytest.raises(CallTimeout, match="within 1 s"):
            await host.call("halving__echo", {"text": "x"})
        assert host.servers.status("halving").state is ServerState.READY


async def test_09_a_line_of_48_megabytes_arrives_whole_at_a_bounded_cost(crib):
    crib.server("large")
    async with crib.open() as host:
        await host.ready()
        size = 48 * 1024 * 1024
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        began = time.process_time()
        result = await host.call("large__blob", {"bytes": size})
        assert time.process_time() - began < 2
        assert len(result["content"][0]["text"]) == size
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 5 * size / 1024


async def test_10_an_endless_line_ends_the_server_not_the_host(crib, until):
    crib.setting(maxMessageBytes=8 * 1024 * 1024)
    crib.server("endless", "endless-line", restart={"enabled": False})
    async with crib.open() as host:
        await host.ready()
        with pytest.raises(ConnectionLost, match="MB"):
            await host.call("endless__pid", {})
        await until(host, lambda: host.servers.status("endless").state is ServerState.FAILED)


async def test_11_a_flood_on_stderr_fills_no_disk_and_blocks_no_answer(crib):
    crib.server("chatty", "stderr-flood")
    async with crib.open() as host:
        await host.ready()
        for number in range(50):
            answer = await host.call("chatty__echo", {"text": str(number)})
            assert answer["content"][0]["text"] == str(number)
        logs = sum(file.stat().st_size for file in host.paths.logs.iterdir())
        assert logs < 7 * 1024 * 1024


@pytest.mark.parametrize("fault", ["close-stdout", "close-stdin"])
async def test_12_13_a_server_that_closes_its_pipes_is_started_again(crib, until, fault):
    crib.server("shutting", fault, restart=QUICKLY, timeouts={"call": 2})
    async with crib.open() as host:
        await host.ready()
        pid = host.servers.status("shutting").pid
        with pytest.raises((ConnectionLost, CallTimeout)):
            await host.call("shutting__pid", {})
        await until(host, lambda: host.servers.status("shutting").pid not in (None, pid))


async def test_14_a_stopped_process_is_noticed_while_idle_and_replaced(crib, until, monkeypatch):
    monkeypatch.setattr("toolcrib.servers.health.RECHECK_INTERVAL", 0.1)
    crib.server("frozen", restart=QUICKLY)
    crib.setting(livenessInterval=0.2)
    async with crib.open() as host:
        await host.ready()
        pid = host.servers.status("frozen").pid
        os.kill(pid, signal.SIGSTOP)
        # Not before: a busy machine may take longer for an answer.
        monkeypatch.setattr("toolcrib.servers.health.CHECK_TIMEOUT", 0.2)
        with pytest.raises((CallTimeout, ConnectionLost)):
            await host.call("frozen__echo", {"text": "x" * 2_000_000}, timeout=1)
        await until(host, lambda: host.servers.status("frozen").pid not in (None, pid))
        monkeypatch.setattr("toolcrib.servers.health.CHECK_TIMEOUT", 30)  # it has time for an answer now
        assert (await host.call("frozen__echo", {"text": "back"}))["content"][0]["text"] == "back"


async def test_15_a_kill_during_a_call_fails_it_as_retryable_and_the_server_comes_back(crib, until):
    crib.server("victim", restart=QUICKLY)
    async with crib.open() as host:
        await host.ready()
        pid = host.servers.status("victim").pid
        call = asyncio.ensure_future(host.call("victim__sleep", {"seconds": 60}))
        await until_pending(host, "victim")
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(ConnectionLost, match="killed by signal 9") as caught:
            await call
        assert caught.value.retryable
        answer = await host.call("victim__pid", {})
        assert answer["content"][0]["text"] != str(pid)
        assert host.servers.status("victim").restarts == 1


async def test_a_read_only_call_that_meets_a_crash_is_repeated_by_itself(crib):
    crib.server("healing", restart=QUICKLY)
    async with crib.open() as host:
        await host.ready()
        os.kill(host.servers.status("healing").pid, signal.SIGKILL)
        assert (await host.call("healing__echo", {"text": "again"}))["content"][0]["text"] == "again"


async def test_a_call_that_found_the_server_dead_is_sent_to_the_next_one(crib):
    crib.server("gone", restart=QUICKLY)
    async with crib.open() as host:
        await host.ready()
        before = host.servers.status("gone").pid
        os.kill(before, signal.SIGKILL)
        os.waitid(os.P_PID, before, os.WEXITED | os.WNOWAIT)  # noqa: ASYNC222 - the loop must not notice first
        assert (await host.call("gone__pid", {}))["content"][0]["text"] != str(before)


async def test_a_call_that_may_change_something_is_never_repeated(crib, until):
    crib.server("once", "exit-on-call", restart=QUICKLY)
    async with crib.open() as host:
        await host.ready()
        with pytest.raises(ConnectionLost, match="code 9"):
            await host.call("once__pid", {})
        await until(host, lambda: host.servers.status("once").restarts == 1)
        await until(host, lambda: host.servers.status("once").state is ServerState.READY)
        assert host.servers.status("once").restarts == 1  # a repeated call would have killed it again


async def test_a_call_waits_briefly_for_a_restarting_server_and_then_fails_as_retryable(crib, until):
    crib.server("resting", restart={"firstDelay": 60})
    crib.setting(callWait=0.2)
    async with crib.open() as host:
        await host.ready()
        os.kill(host.servers.status("resting").pid, signal.SIGKILL)
        await until(host, lambda: host.servers.status("resting").state is ServerState.BACKOFF)
        with pytest.raises(ServerUnavailable, match="restarting") as caught:
            await host.call("resting__pid", {})
        assert caught.value.retryable


async def test_a_cancelled_call_is_cancelled_in_the_server(crib):
    crib.server("patient")
    async with crib.open() as host:
        await host.ready()
        call = asyncio.ensure_future(host.call("patient__sleep", {"seconds": 60}))
        await until_pending(host, "patient")
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        answer = await host.call("patient__cancelled", {})
        assert answer["content"][0]["text"] != "[]"
        records = await host.audit.query(limit=10, tool="patient__sleep")
        assert [record.outcome for record in records] == ["cancelled"]


async def test_22_a_server_that_takes_too_much_memory_is_warned_of_and_restarted(crib, until):
    crib.server("greedy", "leak", memory={"warning": 50, "limit": 150}, restart=QUICKLY)
    crib.setting(livenessInterval=0.05)
    async with crib.open() as host:
        await host.ready()
        pid = host.servers.status("greedy").pid
        for _ in range(3):
            await host.call("greedy__echo", {"text": "x"})
        await until(host, lambda: host.servers.status("greedy").state is ServerState.DEGRADED)
        assert "MB of memory" in host.servers.status("greedy").reason
        with host.events.subscribe() as events:
            for _ in range(6):
                with contextlib.suppress(ServerUnavailable):
                    await host.call("greedy__pid", {})
            async with asyncio.timeout(30):
                event = await events.next()
                while "limit of 150 MB" not in getattr(getattr(event, "status", None), "reason", ""):
                    event = await events.next()
        await until(host, lambda: host.servers.status("greedy").pid not in (None, pid))


async def test_tools_of_a_silent_server_are_not_offered_to_models_until_it_answers(crib, until, monkeypatch):
    monkeypatch.setattr("toolcrib.servers.health.CHECK_TIMEOUT", 0.5)
    monkeypatch.setattr("toolcrib.servers.health.MISSES_ALLOWED", 1000)
    crib.server("steady")
    crib.server("silent")
    crib.setting(livenessInterval=0.05)
    async with crib.open() as host:
        await host.ready()
        offered = {tool.server for tool in host.answering_tools()}
        assert {"steady", "silent"} <= offered
        pid = host.servers.status("silent").pid
        os.kill(pid, signal.SIGSTOP)
        await until(host, lambda: host.servers.status("silent").unresponsive)
        assert host.servers.status("silent").state is ServerState.DEGRADED
        assert {tool.server for tool in host.answering_tools()} == offered - {"silent"}
        assert host.tools("silent"), "users still see them"
        assert all(tool.silent for tool in host.tools("silent"))
        gateway = Gateway(host)
        assert "silent" not in {tool.server for tool in gateway.tools()}
        assert gateway.find("silent__echo") is not None, (
            "a client with an older list gets the server's answer"
        )
        assert not [tool for tool in PlannerTools(host).tools() if tool.server == "silent"]
        shelf = await find_tools(host, server="silent")
        assert {(one["standing"], one["why_not"]) for one in shelf["tools"]} == {("away", NOT_ANSWERING)}
        assert shelf["ready"] < shelf["known"]
        found = await search(host, query="echo", k=50)
        assert "silent" not in {tool["server"] for tool in found["tools"]}
        os.kill(pid, signal.SIGCONT)
        await until(host, lambda: not host.servers.status("silent").unresponsive)
        assert {tool.server for tool in host.answering_tools()} == offered
        assert "silent" in {tool.server for tool in gateway.tools()}


async def test_a_server_that_is_always_busy_and_answers_nothing_is_marked_and_not_ended(
    crib, until, monkeypatch
):
    monkeypatch.setattr("toolcrib.servers.health.CHECK_TIMEOUT", 0.5)
    monkeypatch.setattr("toolcrib.servers.health.MISSES_ALLOWED", 1)
    crib.server("busy")
    crib.setting(livenessInterval=0.05)
    async with crib.open() as host:
        await host.ready()
        pid = host.servers.status("busy").pid
        os.kill(pid, signal.SIGSTOP)
        calls = [asyncio.create_task(host.call("busy__echo", {"text": str(n)})) for n in range(2)]
        await until(host, lambda: host.servers.status("busy").unresponsive)
        assert "is busy" in host.servers.status("busy").reason
        assert not [tool for tool in host.answering_tools() if tool.server == "busy"]
        os.kill(pid, signal.SIGCONT)
        assert [(await call)["content"][0]["text"] for call in calls] == ["0", "1"]
        await until(host, lambda: not host.servers.status("busy").unresponsive)
        assert host.servers.status("busy").pid == pid


@pytest.mark.parametrize("kind", ["small", "junk", "changes", "sampling", "answers"])
@pytest.mark.acceptance
async def test_a_server_that_floods_is_read_slowly_and_its_neighbours_are_not_delayed(
    crib, until, monkeypatch, kind
):
    flow = Flow(monkeypatch)
    crib.entry("flooding", {"command": sys.executable, "args": [str(FLOODING), kind], "era": "legacy"})
    crib.server("steady")
    async with crib.open() as host:
        await host.ready()
        await until(host, lambda: FLOODS in host.servers.status("flooding").reason)
        assert host.servers.status("flooding").state is ServerState.DEGRADED
        for number in range(30):
            answer = await host.call("steady__echo", {"text": str(number)})
            assert answer["content"][0]["text"] == str(number)
        flow.check()
        answer = await host.call("flooding__echo", {})
        assert answer["content"][0]["text"] == "echo"


async def test_a_storm_of_list_changes_costs_few_fetches(crib, until):
    crib.server("stormy", "storm")
    async with crib.open() as host:
        await host.ready()
        await host.call("stormy__change", {})
        await until(host, lambda: any(tool.name == "stormy__extra_0000" for tool in host.tools()))
        assert (await host.call("stormy__echo", {"text": "calm"}))["content"][0]["text"] == "calm"


@pytest.mark.acceptance
async def test_the_event_loop_stays_responsive_while_servers_misbehave(crib):
    for fault in ("rubbish", "stderr-flood", "storm", "exit", "hang", "banner"):
        crib.server(fault, fault, restart=QUICKLY, timeouts={"start": 2})
    async with crib.open() as host:
        lags: list[float] = []

        async def measure() -> None:
            loop = asyncio.get_running_loop()
            while True:
                due = loop.time() + 0.01
                await asyncio.sleep(0.01)
                lags.append(loop.time() - due)

        measuring = asyncio.ensure_future(measure())
        await host.servers["storm"].ready()
        await host.servers["rubbish"].ready()
        for _ in range(20):
            await host.call("storm__echo", {"text": "x"})
            await host.call("rubbish__echo", {"text": "x"})
        measuring.cancel()
        lags.sort()
        assert lags[int(len(lags) * 0.9)] < 0.2


async def until_pending(host, server: str) -> None:
    """Wait until a call is on its way to the server."""
    async with asyncio.timeout(60):
        session = await host.servers.session(server)
        while session.oldest_request is None:  # noqa: ASYNC110 - it is not told, and comes within a few turns of the loop
            await asyncio.sleep(0)
        await session.check(timeout=60)  # answered in order: the call before it was read


FLOODS_FIRST = """
import json, sys

for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message or "method" not in message:
        continue
    result = {}
    if message["method"] == "initialize":
        about = {"protocolVersion": "2025-06-18", "serverInfo": {"name": "eager", "version": "1"}}
        result = {**about, "capabilities": {"tools": {}}}
    elif message["method"] == "tools/list":
        result = {"tools": [{"name": "say", "inputSchema": {"type": "object"}}]}
    elif message["method"] == "tools/call":
        for number in range(30_000):
            sys.stdout.write('{"jsonrpc":"2.0","id":"%d","method":"ping"}\\n' % number)
        result = {"content": []}
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}) + "\\n")
    sys.stdout.flush()
"""


async def test_a_call_that_times_out_because_its_server_is_throttled_says_so(crib, tmp_path):
    program = tmp_path / "eager.py"
    program.write_text(FLOODS_FIRST)
    crib.entry("eager", {"command": sys.executable, "args": [str(program)], "timeouts": {"call": 3}})
    async with crib.open() as host:
        await host.ready()
        with pytest.raises(CallTimeout, match=r"within 3 s: .*throttled for [\d.]+ s") as late:
            await host.call("eager__say", {})
    assert "toolcrib logs eager" in late.value.hint


async def test_a_remote_call_that_times_out_because_its_server_is_throttled_says_so(crib):
    calls = []

    async def answer(reader, writer):
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            await answer_all(reader, writer)
        writer.close()

    async def answer_all(reader, writer):
        while (head := await reader.readuntil(b"\r\n\r\n")).startswith(b"POST"):
            size = int(re.search(rb"content-length: (\d+)", head.lower())[1])
            message = json.loads(await reader.readexactly(size))
            if "id" not in message:
                writer.write(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n")
                continue
            about = {"protocolVersion": "2025-06-18", "serverInfo": {"name": "eager", "version": "1"}}
            result = {"tools": [{"name": "say", "inputSchema": {"type": "object"}}]}
            if message["method"] == "initialize":
                result = {**about, "capabilities": {"tools": {}}}
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
            if message["method"] == "tools/call":
                calls.append(message)
                notice = b'data: {"jsonrpc":"2.0","method":"notifications/message","params":{"data":"x"}}\n\n'
                for _ in range(300):
                    writer.write(notice * 500)
                    await writer.drain()
            reply = {"jsonrpc": "2.0", "id": message["id"], "result": result}
            writer.write(b"data: " + json.dumps(reply).encode() + b"\n\n")
            break

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    crib.entry("eager", {"type": "http", "url": f"http://127.0.0.1:{port}/mcp", "timeouts": {"call": 5}})
    async with server, crib.open() as host:
        await host.ready()
        with pytest.raises(CallTimeout, match=r"within 5 s: .*throttled for [\d.]+ s"):
            await host.call("eager__say", {})
    assert calls

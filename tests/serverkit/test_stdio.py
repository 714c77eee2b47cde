"""A server as a process: what it answers, what it survives, and how it ends."""

from __future__ import annotations

import asyncio
import fcntl
import json
import socket
import subprocess
import sys
import termios
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).parent / "programs" / "workbench.py"
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
LOOPS = pytest.mark.parametrize("loop", [(), ("--asyncio",)], ids=["uvloop", "asyncio"])


def text_of(result: dict[str, Any]) -> str:
    return str(result["content"][0]["text"])


def progressed(message: dict[str, Any]) -> bool:
    return message.get("method") == "notifications/progress"


@LOOPS
async def test_a_legacy_client_opens_lists_and_calls(workspace_tools: Any, loop: tuple[str, ...]) -> None:
    client = await workspace_tools(*loop)
    opened = await client.open_legacy()
    assert opened["result"]["protocolVersion"] == "2025-06-18"
    listed = await client.answer(client.ask("tools/list"))
    assert "echo" in [tool["name"] for tool in listed["result"]["tools"]]
    assert "resultType" not in listed["result"]
    assert text_of(await client.call("echo", {"text": "hällo"})) == "hällo"


async def test_a_modern_client_needs_no_opening(workspace_tools: Any) -> None:
    client = await workspace_tools()
    result = await client.call("echo", {"text": "hi"}, **MODERN)
    assert result["resultType"] == "complete"
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"] == {"name": "workbench", "version": "1.0"}


@LOOPS
async def test_rubbish_is_refused_and_the_next_message_is_answered(
    workspace_tools: Any, loop: tuple[str, ...]
) -> None:
    client = await workspace_tools(*loop)
    for line in (
        b"rubbish",
        b"{",
        b"[1]",
        b"42",
        b'"text"',
        b"\xff\xfe\x00",
        b'{"jsonrpc":"2.0"}',
        b"",
        b"  ",
    ):
        client.write(line)
    assert text_of(await client.call("echo", {"text": "still here"}, **MODERN)) == "still here"
    codes = [message["error"]["code"] for message in client.stray]
    assert codes == [-32700, -32700, -32600, -32600, -32600, -32700, -32600]
    assert all("id" not in message for message in client.stray)


async def test_a_byte_order_mark_is_no_hindrance(workspace_tools: Any) -> None:
    client = await workspace_tools()
    params = {"name": "echo", "arguments": {"text": "x"}, "_meta": MODERN}
    message = {"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": params}
    client.write(b"\xef\xbb\xbf" + json.dumps(message).encode() + b"\r")
    assert (await client.hear())["id"] == "a"


async def test_a_line_beyond_the_limit_is_dropped_and_the_next_is_answered(workspace_tools: Any) -> None:
    client = await workspace_tools()
    for _ in range(65):
        client.process.stdin.write(b"x" * 1024 * 1024)
        await client.process.stdin.drain()
    client.write(b"")
    refused = await client.hear()
    assert refused["error"]["code"] == -32600
    assert text_of(await client.call("echo", {"text": "x"}, **MODERN)) == "x"


@pytest.mark.acceptance
async def test_a_message_of_many_megabytes_passes(workspace_tools: Any) -> None:
    client = await workspace_tools()
    text = "ä" * 8_000_000
    assert text_of(await client.call("echo", {"text": text}, **MODERN)) == text


@LOOPS
async def test_a_client_that_is_slow_to_read_gets_every_answer(
    workspace_tools: Any, loop: tuple[str, ...]
) -> None:
    client = await workspace_tools(*loop)
    output = client.process._transport.get_pipe_transport(1)
    output.pause_reading()
    text = "x" * 1_000_000
    client.ask("tools/call", {"name": "echo", "arguments": {"text": text}, "_meta": MODERN})
    await until_full(output.get_extra_info("pipe").fileno())
    for _ in range(29):
        client.ask("tools/call", {"name": "echo", "arguments": {"text": text}, "_meta": MODERN})
    output.resume_reading()
    heard = [await client.hear() for _ in range(30)]
    assert {message["id"] for message in heard} == set(range(1, 31))
    assert await client.ended() == 0


async def until_full(pipe: int) -> None:
    """Nothing more fits into the pipe, so that the server has to hold back."""
    waiting = bytearray(4)
    async with asyncio.timeout(60):
        while int.from_bytes(waiting, sys.byteorder) < fcntl.fcntl(pipe, fcntl.F_GETPIPE_SZ):
            await asyncio.sleep(0.01)
            fcntl.ioctl(pipe, termios.FIONREAD, waiting)


@LOOPS
async def test_what_a_tool_prints_goes_to_stderr(workspace_tools: Any, loop: tuple[str, ...]) -> None:
    client = await workspace_tools(*loop)
    assert text_of(await client.call("chatter", {}, **MODERN)) == "done"
    assert client.stray == []
    assert await client.ended() == 0
    assert b"this is not a message" in await client.process.stderr.read()


async def test_a_tool_that_reads_stdin_finds_nothing(workspace_tools: Any) -> None:
    client = await workspace_tools()
    assert text_of(await client.call("ask_for_input", {}, **MODERN)) == "''"


async def test_calls_run_side_by_side(workspace_tools: Any) -> None:
    client = await workspace_tools()
    for tool in ("hang", "wait_for_ever"):
        client.ask("tools/call", {"name": tool, "arguments": {}, "_meta": {**MODERN, "progressToken": tool}})
        await client.hear_until(progressed)
    assert text_of(await client.call("echo", {"text": "not blocked"}, **MODERN)) == "not blocked"


async def test_progress_carries_the_callers_token_and_only_grows(workspace_tools: Any) -> None:
    client = await workspace_tools()
    await client.call("steps", {"count": 3}, **MODERN, progressToken="mine")
    params = [message["params"] for message in client.stray]
    assert [(each["progressToken"], each["progress"], each["total"]) for each in params] == [
        ("mine", 1, 3),
        ("mine", 2, 3),
        ("mine", 3, 3),
    ]


async def test_no_progress_is_sent_to_who_did_not_ask(workspace_tools: Any) -> None:
    client = await workspace_tools()
    await client.call("steps", {"count": 3}, **MODERN)
    assert client.stray == []


async def test_a_modern_client_hears_logs_only_from_the_level_it_asked_for(workspace_tools: Any) -> None:
    client = await workspace_tools()
    await client.call("logs", {}, **MODERN)
    assert client.stray == []
    await client.call("logs", {}, **MODERN, **{"io.modelcontextprotocol/logLevel": "error"})
    assert [message["params"]["data"] for message in client.stray] == ["loud"]


async def test_a_legacy_client_sets_its_log_level_once(workspace_tools: Any) -> None:
    client = await workspace_tools()
    await client.open_legacy()
    await client.call("logs", {})
    assert [message["params"]["level"] for message in client.stray] == ["info", "error"]
    client.stray.clear()
    await client.answer(client.ask("logging/setLevel", {"level": "critical"}))
    await client.call("logs", {})
    assert client.stray == []


@LOOPS
async def test_a_cancelled_call_stops_and_is_never_answered(
    workspace_tools: Any, tmp_path: Path, loop: tuple[str, ...]
) -> None:
    client = await workspace_tools(*loop)
    mark = tmp_path / "mark"
    params = {"name": "wait_for_ever", "arguments": {"mark": str(mark)}}
    cancelled = client.ask("tools/call", {**params, "_meta": {**MODERN, "progressToken": 1}})
    await client.hear_until(progressed)
    client.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": cancelled}})
    assert text_of(await client.call("echo", {"text": "x"}, **MODERN)) == "x"
    assert await client.ended() == 0
    assert mark.read_text() == "cancelled"
    rest = await client.process.stdout.read()
    assert rest == b""
    assert all(message.get("id") != cancelled for message in client.stray)


@pytest.mark.parametrize("tool", ["hang", "stubborn"])
async def test_even_a_tool_that_cannot_be_stopped_is_given_up_when_cancelled(
    workspace_tools: Any, tool: str
) -> None:
    client = await workspace_tools()
    meta = {**MODERN, "progressToken": 1}
    cancelled = client.ask("tools/call", {"name": tool, "arguments": {}, "_meta": meta})
    await client.hear_until(progressed)
    client.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": cancelled}})
    assert text_of(await client.call("echo", {"text": "x"}, **MODERN)) == "x"


@pytest.mark.parametrize(
    ("tool", "told"),
    [("fail", "It is broken.\nMend it."), ("crash", "ValueError: unexpected"), ("leave", "SystemExit: 3")],
)
async def test_a_tool_that_fails_answers_with_an_error_and_the_server_lives(
    workspace_tools: Any, tool: str, told: str
) -> None:
    client = await workspace_tools()
    result = await client.call(tool, {}, **MODERN)
    assert result["isError"] is True
    assert told in text_of(result)
    assert text_of(await client.call("echo", {"text": "x"}, **MODERN)) == "x"


async def test_a_batch_is_answered_in_the_one_version_that_has_batches(workspace_tools: Any) -> None:
    client = await workspace_tools()
    await client.open_legacy("2025-03-26")
    client.say(
        [{"jsonrpc": "2.0", "id": "a", "method": "ping"}, {"jsonrpc": "2.0", "id": "b", "method": "ping"}]
    )
    answers: Any = await client.hear()
    assert [answer["id"] for answer in answers] == ["a", "b"]


@pytest.mark.parametrize("busy_with", [None, "hang", "stubborn", "wait_for_ever"])
@LOOPS
async def test_the_process_ends_with_its_input_whatever_its_tools_do(
    workspace_tools: Any, busy_with: str | None, loop: tuple[str, ...]
) -> None:
    client = await workspace_tools(*loop)
    if busy_with:
        meta = {**MODERN, "progressToken": 1}
        client.ask("tools/call", {"name": busy_with, "arguments": {}, "_meta": meta})
        await client.hear_until(progressed)
    assert await client.ended() == 0


def test_what_was_asked_before_the_end_of_the_input_is_still_answered() -> None:
    params = {"name": "steps", "arguments": {"count": 2}, "_meta": MODERN}
    request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    done = subprocess.run(
        [sys.executable, str(PROGRAM)], input=request.encode(), capture_output=True, timeout=60, check=True
    )
    assert json.loads(done.stdout)["id"] == 1


def test_files_serve_as_input_and_output(tmp_path: Path) -> None:
    asked, told = tmp_path / "asked", tmp_path / "told"
    request = {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": MODERN}}
    asked.write_text(json.dumps(request) + "\n")
    with asked.open("rb") as incoming, told.open("wb") as outgoing:
        subprocess.run(
            [sys.executable, str(PROGRAM)], stdin=incoming, stdout=outgoing, timeout=60, check=True
        )
    assert json.loads(told.read_text())["result"]["supportedVersions"] == ["2026-07-28"]


@LOOPS
async def test_sockets_serve_as_streams_too(loop: tuple[str, ...]) -> None:
    """Node gives its children sockets where others give pipes."""
    to_it, its_input = socket.socketpair()
    from_it, its_output = socket.socketpair()
    with to_it, from_it, its_input, its_output:
        process = await asyncio.create_subprocess_exec(
            sys.executable, str(PROGRAM), *loop, stdin=its_input, stdout=its_output
        )
        try:
            its_input.close()
            its_output.close()
            reader, hearing = await asyncio.open_unix_connection(sock=from_it)
            request = {"jsonrpc": "2.0", "id": 7, "method": "server/discover", "params": {"_meta": MODERN}}
            to_it.sendall(json.dumps(request).encode() + b"\n")
            async with asyncio.timeout(60):
                assert json.loads(await reader.readline())["id"] == 7
                to_it.close()
                assert await process.wait() == 0
            hearing.close()
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()


async def test_a_client_that_stops_reading_ends_the_server(workspace_tools: Any) -> None:
    client = await workspace_tools()
    client.ask("server/discover", {"_meta": MODERN})
    await client.hear()
    client.process._transport.get_pipe_transport(1).close()
    for _ in range(3):
        client.ask("server/discover", {"_meta": MODERN})
    async with asyncio.timeout(60):
        assert await client.process.wait() == 0


@LOOPS
@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_shutdown_as_of_a_language_server_is_answered_and_exit_ends_the_process(
    workspace_tools: Any, loop: tuple[str, ...], era: str
) -> None:
    client = await workspace_tools(*loop)
    if era == "legacy":
        await client.open_legacy()

    answer = await client.answer(client.ask("shutdown", {} if era == "legacy" else {"_meta": MODERN}))
    client.write(b'{"jsonrpc":"2.0","method":"exit"}')

    assert "error" not in answer
    async with asyncio.timeout(30):
        assert await client.process.wait() == 0

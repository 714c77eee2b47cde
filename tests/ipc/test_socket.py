"""The host's local socket: for this user alone, many clients at once, nobody held up by another."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import stat
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.bundled.terminal.conftest import KINDS, available
from tests.operations.conftest import DEADLINE, RawClient
from toolcrib.cli.host_connection import serve_operations
from toolcrib.errors import ConfigError, ConnectionLost, UnknownServer
from toolcrib.host import Host, open_host
from toolcrib.ipc import server as control_server
from toolcrib.ipc.client import connected
from toolcrib.ipc.wire import is_trusted, peer_uid


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(DEADLINE):
        while not condition():  # noqa: ASYNC110 - what is waited for happens in another process
            await asyncio.sleep(0.01)


def notes(home: Path) -> list[str]:
    file = home / "notes"
    return file.read_text().splitlines() if file.exists() else []


async def test_only_this_user_can_reach_the_socket(host: Host) -> None:
    found = host.paths.socket.stat()

    assert stat.S_ISSOCK(found.st_mode)
    assert stat.S_IMODE(found.st_mode) == 0o600
    assert stat.S_IMODE(host.paths.socket.parent.stat().st_mode) == 0o700


def test_the_peer_of_a_socket_is_known() -> None:
    one, other = socket.socketpair()
    with one, other:
        assert peer_uid(one) == os.getuid()
        assert is_trusted(one)


@pytest.mark.parametrize(
    "first", [b'{"token": "wrong"}', b'{"token": 7}', b'{"id": 1, "operation": "servers"}', b"x"]
)
async def test_a_client_without_the_token_is_refused(host: Host, first: bytes) -> None:
    client = RawClient(*await asyncio.open_unix_connection(host.paths.socket))
    await client.read()
    client.write(first + b"\n")
    client.ask(1, "servers")

    assert (await client.read())["error"]["kind"] == "denied"
    assert await client.ended()


async def test_the_token_is_for_this_user_and_ends_with_the_host(home: Path) -> None:
    async with open_host(home) as host:
        async with serve_operations(host):
            first = host.paths.token_file.read_text()
            assert stat.S_IMODE(host.paths.token_file.stat().st_mode) == 0o600
        assert not host.paths.token_file.exists()
        async with serve_operations(host):
            assert host.paths.token_file.read_text() != first


async def test_a_home_with_a_long_path_is_served_from_inside_it(home: Path) -> None:
    long = home / ("x" * 120) / ("y" * 120)
    async with open_host(long) as host, serve_operations(host):
        assert host.paths.socket.is_relative_to(long)
        assert stat.S_IMODE(host.paths.socket.stat().st_mode) == 0o600
        async with connected(host.paths) as connection:
            assert connection is not None
            assert (await connection.run("on", {})) == {"enabled": True}
    assert not host.paths.socket.exists()


VISIT = """
import os, socket, sys
for _ in range(int(sys.argv[3])):  # the parent ends, and whoever adopts it is above
    if os.fork():
        os._exit(0)
    os.setsid()
os.chdir(sys.argv[1])
one = socket.socket(socket.AF_UNIX)
one.connect("host.sock")
one.sendall(b'{"token": "' + open("host.token", "rb").read() + b'"}\\n{"id": 1, "operation": "servers"}\\n')
said = open(sys.argv[2] + ".part", "wb")
try:
    while part := one.recv(65536):
        said.write(part)
except ConnectionError:
    pass
said.close()
os.rename(sys.argv[2] + ".part", sys.argv[2])
"""


@pytest.mark.parametrize("forks", [0, 2])
async def test_a_command_of_the_terminal_does_not_control_the_host(
    home: Path, tmp_path: Path, forks: int
) -> None:
    (tmp_path / "visit.py").write_text(VISIT)
    settings = {"terminal": {"enabled": True, "folder": str(tmp_path), "sandbox": "none"}}
    (home / "mcp.json").write_text(json.dumps({"mcpServers": {}, "toolcrib": settings}))
    async with open_host(home) as host, serve_operations(host):
        visit = f"python3 visit.py {host.paths.runtime} {tmp_path}/said {forks}; cat"
        await host.call("terminal__run_command", {"command": visit, "background": True})
        await until(lambda: (tmp_path / "said").exists())

    said = (tmp_path / "said").read_text()
    assert "cannot control the host" in said
    assert "result" not in said


@pytest.mark.acceptance
async def test_a_sandboxed_command_does_not_find_the_socket(home: Path, tmp_path: Path) -> None:
    long = home / ("x" * 120)
    long.mkdir()
    settings = {"terminal": {"enabled": True, "folder": str(tmp_path), "unix_sockets": True}}
    (long / "mcp.json").write_text(json.dumps({"mcpServers": {}, "toolcrib": settings}))
    (tmp_path / "visit.py").write_text(VISIT)
    async with open_host(long) as host, serve_operations(host):
        places = f"{host.paths.socket.parent} {host.paths.runtime} {home}"
        command = f"python3 visit.py {host.paths.runtime} {tmp_path}/said 0; find {places} -name 'host.sock'"
        result = await host.call("terminal__run_command", {"command": command, "timeout": 100})

    held = available(KINDS[0]) != "none"
    assert (tmp_path / "said").exists() is not held
    assert ("host.sock" in result["structuredContent"]["output"]) is not held


async def test_a_request_is_answered_under_its_number(client: RawClient) -> None:
    client.ask("seven", "servers")

    answer = await client.read()

    assert answer["id"] == "seven"
    assert [server["name"] for server in answer["result"]] == ["demo", "small"]


async def test_an_error_keeps_its_kind_and_hint(client: RawClient) -> None:
    client.ask(1, "test", {"name": "dmo"})

    error = (await client.read())["error"]

    assert error["kind"] == "unknown_server"
    assert "demo" in error["hint"]


@pytest.mark.parametrize(
    "line",
    [
        b"not json\n",
        b"[]\n",
        b"{}\n",
        b'{"id": 1, "operation": 7}\n',
        b'{"id": 1, "operation": "nothing"}\n',
        b'{"id": 1, "operation": "../secrets"}\n',
        b'{"id": 1, "operation": "test"}\n',
        b'{"id": 1, "operation": "test", "params": {"name": "demo", "more": 1}}\n',
        b'{"id": 1, "operation": "servers", "params": []}\n',
        b"\xff\xfe\n",
        b"[" * 100_000 + b"\n",
    ],
)
async def test_nonsense_is_refused_and_the_connection_lives_on(client: RawClient, line: bytes) -> None:
    client.write(line)
    assert "error" in await client.read()

    client.ask(2, "servers")
    assert "result" in await client.read()


async def test_a_line_without_end_is_cut_off(home: Path) -> None:
    async with open_host(home) as host, serve_operations(host, max_request=100_000):
        client = await RawClient.connect(host.paths.socket)
        client.write(b"x" * 1_000_000)

        answer = await client.read()

        assert answer["error"]["kind"] == "usage"
        assert await client.ended()


async def test_steps_are_told_before_the_answer(client: RawClient) -> None:
    client.ask(1, "test", {"name": "small"})

    messages = [await client.read() for _ in range(5)]

    assert [message["event"]["name"] for message in messages[:4]] == ["resolve", "spawn", "handshake", "list"]
    assert messages[4]["result"]["ok"] is True


async def test_progress_is_told_before_the_answer(client: RawClient) -> None:
    client.ask(1, "call", {"tool": "small__count"})

    messages = [await client.read() for _ in range(4)]

    assert [message["event"]["progress"] for message in messages[:3]] == [1, 2, 3]
    assert messages[3]["result"]["content"] == [{"type": "text", "text": "three"}]


async def test_a_slow_operation_does_not_hold_up_the_next(client: RawClient) -> None:
    client.ask("slow", "call", {"tool": "small__never"})
    client.ask("fast", "servers")

    assert (await client.read())["id"] == "fast"


async def test_a_client_that_goes_away_cancels_its_operation(
    host: Host, client: RawClient, home: Path
) -> None:
    client.ask(1, "call", {"tool": "small__never"})
    await until(lambda: "called never" in notes(home))

    client.close()

    await until(lambda: "cancelled" in notes(home))
    records = await host.audit.query(outcome="cancelled")
    assert [record.tool for record in records] == ["small__never"]


async def test_a_client_that_does_not_read_holds_up_nobody(host: Host, client: RawClient) -> None:
    arguments = {"text": "x" * 1_000_000}
    for number in range(30):
        client.ask(number, "call", {"tool": "small__echo", "arguments": arguments})

    other = await RawClient.connect(host.paths.socket)
    other.ask(1, "call", {"tool": "demo__add", "arguments": {"a": 1, "b": 2}})

    assert (await other.read())["result"]["structuredContent"] == {"result": 3}
    other.close()


async def test_a_hundred_clients_are_served_at_once(host: Host) -> None:
    async def ask(number: int) -> float:
        client = await RawClient.connect(host.paths.socket)
        client.ask(number, "call", {"tool": "demo__add", "arguments": {"a": number, "b": 1}})
        answer = await client.read()
        client.close()
        total: float = answer["result"]["structuredContent"]["result"]
        return total

    assert await asyncio.gather(*map(ask, range(100))) == [number + 1 for number in range(100)]


async def test_too_many_clients_are_turned_away(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control_server, "MAX_CLIENTS", 1)
    first = await RawClient.connect(host.paths.socket)
    second = await RawClient.connect(host.paths.socket)

    assert (await second.read())["error"]["kind"] == "server_unavailable"
    assert await second.ended()
    first.close()


async def test_too_many_operations_of_one_client_are_turned_away(
    client: RawClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_server, "MAX_OPERATIONS", 1)
    client.ask("kept", "call", {"tool": "small__never"})
    client.ask("refused", "servers")

    answer = await client.read()

    assert (answer["id"], answer["error"]["kind"]) == ("refused", "server_unavailable")


async def test_no_task_is_left_of_clients_that_are_gone(host: Host, client: RawClient) -> None:
    before = len(asyncio.all_tasks())
    others = [await RawClient.connect(host.paths.socket) for _ in range(10)]
    for other in others:
        other.ask(1, "watch")
        await other.read()
        other.close()

    await until(lambda: len(asyncio.all_tasks()) <= before)


async def test_the_end_of_the_host_ends_its_clients_and_removes_the_socket(home: Path) -> None:
    async with open_host(home) as host:
        async with serve_operations(host):
            client = await RawClient.connect(host.paths.socket)
            client.ask(1, "watch")
            await client.read()
        assert not host.paths.socket.exists()
        while line := await client.reader.readline():
            assert b'"event"' in line


async def test_a_socket_of_a_killed_host_is_taken_over(home: Path) -> None:
    async with open_host(home) as host:
        stale = socket.socket(socket.AF_UNIX)
        stale.bind(str(host.paths.socket))
        stale.close()

        async with serve_operations(host):
            client = await RawClient.connect(host.paths.socket)
            client.close()


async def test_a_file_in_the_way_is_not_removed(home: Path) -> None:
    async with open_host(home) as host:
        host.paths.socket.write_text("mine")

        with pytest.raises(ConfigError, match="in the way"):
            async with serve_operations(host):
                pass

        assert host.paths.socket.read_text() == "mine"


async def test_the_client_raises_what_the_host_raised(host: Host) -> None:
    async with connected(host.paths) as connection:
        assert connection is not None
        with pytest.raises(UnknownServer):
            await connection.run("test", {"name": "nobody"})
        assert (await connection.run("on", {})) == {"enabled": True}


async def test_the_client_says_when_the_host_ended_meanwhile(home: Path) -> None:
    async with open_host(home) as host, AsyncExitStack() as listening, AsyncExitStack() as connection:
        await listening.enter_async_context(serve_operations(host))
        crib = await connection.enter_async_context(connected(host.paths))
        assert connection is not None
        heard = asyncio.Event()
        watching = asyncio.create_task(crib.run("watch", {}, lambda event: heard.set()))
        await heard.wait()

        await listening.aclose()

        with pytest.raises(ConnectionLost, match="ended"):
            await watching


async def test_lone_surrogates_pass_the_wire(client: RawClient) -> None:
    client.ask(1, "call", {"tool": "small__echo", "arguments": {"text": "\ud800"}})

    assert "ud800" in (await client.read())["result"]["content"][0]["text"]

"""Operations run in the running host where there is one, else in this process; the result is the same."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from tests.operations.conftest import entry, write_config
from toolcrib.cli import host_connection
from toolcrib.cli.host_connection import reach, serve_operations
from toolcrib.config.paths import find_paths
from toolcrib.errors import NoHost
from toolcrib.host import Host, open_host


async def test_a_running_host_is_used(host: Host, home: Path) -> None:
    async with reach(home) as client:
        assert client.running
        pid = (await client.servers())[-1]["pid"]

    assert pid == host.servers.status("small").pid


async def test_without_one_the_same_operation_runs_here(home: Path) -> None:
    write_config(home, {"small": entry()})
    steps: list[Any] = []
    async with reach(home) as client:
        assert not client.running
        outcome = await client.test(name="small", on_event=steps.append)

    assert outcome["ok"] is True
    assert outcome["steps"] == steps


async def test_an_answer_does_not_wait_for_servers_that_are_slow_to_go(home: Path) -> None:
    write_config(home, {"hanging": entry("--hang")})
    async with reach(home) as client:
        (server,) = await client.servers(wait=0)
        # Its process still runs here, and is ended when the block is left.
        assert server["state"] == "starting"


async def test_what_needs_a_running_host_says_so(home: Path) -> None:
    async with reach(home) as client:
        with pytest.raises(NoHost, match="No host is running"):
            await client.stop(name="demo")


async def test_a_host_that_is_just_starting_is_waited_for(home: Path) -> None:
    async with open_host(home) as host:

        async def listen() -> None:
            async with serve_operations(host):
                await done.wait()

        done = asyncio.Event()
        listening = asyncio.create_task(listen())
        async with reach(home) as client:
            assert client.running
        done.set()
        await listening


async def test_a_program_that_holds_the_home_without_listening_is_let_be(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_connection, "START_TIMEOUT", 0.1)
    async with open_host(home), reach(home) as client:
        assert not client.running
        result = await client.call(tool="demo__add", arguments={"a": 1, "b": 2})

    assert result["structuredContent"] == {"result": 3}


async def test_something_that_listens_and_is_silent_is_no_host(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolcrib.ipc.client.GREETING_TIMEOUT", 0.2)
    paths = find_paths(home).ensure()
    silent = await asyncio.start_unix_server(lambda reader, writer: None, os.fspath(paths.socket))
    async with silent:
        with pytest.raises(NoHost, match="does not respond"):
            async with reach(home):
                pass


async def test_a_host_that_is_just_ending_is_none_any_more(home: Path) -> None:
    paths = find_paths(home).ensure()
    ending = await asyncio.start_unix_server(
        lambda reader, writer: writer.transport.abort(), os.fspath(paths.socket)
    )
    async with ending, reach(home) as client:
        assert not client.running


async def test_a_host_of_another_version_is_told_of(home: Path) -> None:
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b'{"hello": {"protocol": 99, "version": "9.9"}}\n')
        await reader.read()
        writer.close()

    paths = find_paths(home).ensure()
    async with await asyncio.start_unix_server(greet, os.fspath(paths.socket)):
        with pytest.raises(NoHost, match=r"9\.9"):
            async with reach(home):
                pass

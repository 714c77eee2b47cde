"""From a config entry to a live session: references, checks, and what the child is given."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.servers.children import Ear, misbehaving
from tests.servers.puppets import LEGACY, MODERN, TOOL
from toolcrib.errors import ConfigError, MissingSecret, MissingVariable, SpawnFailed
from toolcrib.schema.servers import ServerEntry
from toolcrib.servers.connector import Connector
from toolcrib.servers.processes.guard import guard_processes
from toolcrib.servers.processes.log import MASK
from toolcrib.servers.processes.log_lines import output_in
from toolcrib.servers.processes.orphans import MARKER

pytestmark = pytest.mark.usefixtures("tidy")
SECRETS = {"TOKEN": "s3cret-value"}


@pytest.fixture
async def connector(tmp_path: Path) -> AsyncIterator[Connector]:
    async with guard_processes(tmp_path / "run") as guard:
        yield Connector(
            guard=guard,
            environ={"HOME": "/home/ada", "PATH": "/bin", "API_KEY": "ours", "ALLOWED": "yes"},
            secret=SECRETS.get,
            log_path=lambda server: tmp_path / "logs" / f"{server}.log",
            installs=tmp_path / "servers",
        )


def entry(**raw: Any) -> ServerEntry:
    return ServerEntry(name="srv", type=raw.get("type", "stdio"), raw=raw)


def reporting(*arguments: str, **raw: Any) -> ServerEntry:
    spec = misbehaving("report", *arguments)
    return entry(command=spec.command, args=list(spec.args), **raw)


async def test_references_are_filled_in_and_only_harmless_and_allowed_variables_pass(connector: Connector):
    server = reporting("${HOME}/x", "${NONE:-fallback}", env={"KEY": "${secret:TOKEN}", "N": 5})
    server = replace(server, env_allow=("ALLOWED",))
    ear = Ear()
    async with (await connector.resolve(server))(ear):
        said = await ear.said()
    assert said["given"] == ["/home/ada/x", "fallback"]
    environ = said["environ"]
    environ.pop("LC_CTYPE", None)
    assert environ.pop(MARKER).startswith(connector.guard.token)
    assert environ == {
        "HOME": "/home/ada",
        "PATH": "/bin",
        "ALLOWED": "yes",
        "KEY": "s3cret-value",
        "N": "5",
    }


async def test_secrets_never_reach_the_log(connector: Connector, tmp_path: Path):
    spec = misbehaving("end", 1)
    server = entry(command=spec.command, args=[*spec.args, "key ${secret:TOKEN} is wrong"])
    ear = Ear()
    async with (await connector.resolve(server))(ear):
        error = await ear.loss()
    assert error.message == f"srv exited with code 1. Last output: key {MASK} is wrong"
    assert output_in((tmp_path / "logs" / "srv.log").read_text()) == [f"key {MASK} is wrong"]


@pytest.mark.parametrize(
    ("raw", "kind", "words"),
    [
        ({"command": "${secret:NONE}"}, MissingSecret, "NONE"),
        ({"command": "x", "args": ["${NOT_SET}"]}, MissingVariable, "NOT_SET"),
        ({"command": "x", "args": "not a list"}, ConfigError, "srv: args must be a list of text, not text"),
        ({"command": ""}, ConfigError, "srv: command must be text that is not empty"),
        ({}, ConfigError, "srv: command is missing"),
        (
            {"command": "x", "env": {"A": ["${HOME"]}, "cwd": 5},
            ConfigError,
            "srv: cwd must be text, not a number",
        ),
        ({"type": "carrier-pigeon"}, ConfigError, "srv has the unknown type 'carrier-pigeon'"),
        (
            {"type": "npm", "package": "p", "args": [1]},
            ConfigError,
            r"srv: args\.0 must be text, not a number",
        ),
        ({"type": "python"}, ConfigError, "srv: module is missing"),
    ],
)
async def test_an_entry_that_cannot_be_used_names_what_is_wrong(
    connector: Connector, raw: dict[str, Any], kind: type[ConfigError], words: str
):
    with pytest.raises(kind, match=words) as caught:
        await connector.resolve(entry(**raw))
    assert caught.value.hint


async def test_an_error_about_a_key_does_not_show_its_value(connector: Connector):
    with pytest.raises(ConfigError) as caught:
        await connector.resolve(entry(command="x", args=["${secret:TOKEN}", {"a": 1}]))
    assert "s3cret" not in caught.value.message


async def test_a_package_that_is_not_installed_fails_on_opening(connector: Connector):
    open_link = await connector.resolve(entry(type="npm", package="@scope/p"))
    with pytest.raises(ConfigError, match="@scope/p is not installed for srv"):
        async with open_link(Ear()):
            pass


@pytest.mark.parametrize("script", [LEGACY, MODERN], ids=["legacy", "modern"])
async def test_an_entry_becomes_a_session(connector: Connector, puppet, script):
    notices: list[str] = []
    counts: list[int] = []
    async with puppet(script) as server:
        command, *arguments = server.command
        connector = connector.opener(entry(command=command, args=arguments))
        async with connector(
            era=None, on_notice=lambda method, _: notices.append(method), on_junk=counts.append
        ) as session:
            assert session.server == "srv"
            await server.say(b"rubbish\n", {"jsonrpc": "2.0", "method": "notifications/message"})
            assert await session.list_tools(timeout=60) == [TOOL]
    assert (notices, counts) == (["notifications/message"], [1])


async def test_a_command_that_is_not_there_is_told_as_such(connector: Connector):
    with pytest.raises(SpawnFailed, match=r"was not found on the PATH \(/bin\)"):
        async with connector.open_session(entry(command="no-such-program")):
            pass


async def test_each_connection_has_a_marker_of_its_own(connector: Connector):
    markers = set()
    for _ in range(2):
        ear = Ear()
        async with (await connector.resolve(reporting()))(ear):
            markers.add((await ear.said())["environ"][MARKER])
    assert len(markers) == 2


async def test_an_interpreter_of_ours_may_be_a_path_with_spaces(connector: Connector, tmp_path: Path):
    folder = tmp_path / "a folder with spaces"
    folder.mkdir()
    (folder / "python").symlink_to(sys.executable)
    spec = misbehaving("report")
    server = entry(command=str(folder / "python"), args=list(spec.args), cwd=str(folder))
    ear = Ear()
    async with (await connector.resolve(server))(ear):
        assert (await ear.said())["cwd"] == str(folder)

"""Trying a server: which steps were taken, how they went, and what to do about it."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.loop_clock import LoopClock
from tests.servers.children import misbehaving
from tests.servers.puppets import LEGACY, MODERN, TOOL, Message, Puppet, Refusal
from toolcrib.schema.servers import ServerEntry
from toolcrib.servers.connector import Connector
from toolcrib.servers.processes.guard import guard_processes
from toolcrib.servers.processes.orphans import marked
from toolcrib.servers.sessions.handlers import Handlers
from toolcrib.servers.trial import StepResult, TrialResult, try_server

pytestmark = pytest.mark.usefixtures("tidy")


@pytest.fixture
async def connector(tmp_path: Path) -> AsyncIterator[Connector]:
    async with guard_processes(tmp_path / "run") as guard:
        yield Connector(
            guard=guard,
            environ={"PATH": "/bin:/usr/bin"},
            secret={"TOKEN": "s3cret-value"}.get,
            log_path=lambda server: tmp_path / f"{server}.log",
            installs=tmp_path / "servers",
        )
        assert marked(guard.token) == []


def entry(timeout: float = 30.0, **raw: Any) -> ServerEntry:
    return ServerEntry(name="srv", type=raw.get("type", "stdio"), raw=raw, start_timeout=timeout)


def played_by(server: Puppet, timeout: float = 30.0) -> ServerEntry:
    command, *arguments = server.command
    return entry(timeout, command=command, args=arguments)


def outline(trial: TrialResult) -> list[tuple[str, bool]]:
    return [(step.name, step.ok) for step in trial.steps]


GOOD = [("resolve", True), ("spawn", True), ("handshake", True), ("list", True)]


@pytest.mark.parametrize(
    ("script", "who"),
    [(LEGACY, "puppet 1.2, protocol 2025-11-25"), (MODERN, "puppet 1.2, protocol 2026-07-28")],
    ids=["legacy", "modern"],
)
async def test_a_good_server_passes_every_step(connector: Connector, puppet, script, who: str):
    told: list[StepResult] = []
    async with puppet(script) as server:
        trial = await try_server(connector, played_by(server), told.append)
        assert trial.ok
        assert outline(trial) == GOOD
        assert told == trial.steps
        resolve, spawn, handshake, listing = (step.detail for step in trial.steps)
        assert resolve == " ".join(server.command)
    assert spawn.startswith("process ")
    assert handshake == who
    assert listing == "1 tool"
    assert trial.definitions == [TOOL]
    assert all(step.ms >= 0 and not step.hint for step in trial.steps)


async def test_a_server_that_does_not_say_who_it_is_passes_too(connector: Connector, puppet):
    script = {**LEGACY, "initialize": {**LEGACY["initialize"], "serverInfo": None}}
    async with puppet(script) as server:
        trial = await try_server(connector, played_by(server))
    assert trial.steps[2].detail == "unnamed, protocol 2025-11-25"


async def test_a_server_that_dies_on_the_probe_passes_as_it_will_under_supervision(
    connector: Connector, puppet
):
    def die(server: Puppet, message: Message) -> None:
        server.hang_up()

    async with puppet({**LEGACY, "server/discover": die}) as server:
        trial = await try_server(connector, played_by(server))
        assert outline(trial) == GOOD
        assert trial.steps[2].detail == "puppet 1.2, protocol 2025-11-25"
        assert len(server.all("server/discover")) == 1


async def test_what_is_shown_of_the_entry_has_no_secrets_filled_in(connector: Connector, puppet):
    async with puppet(LEGACY) as server:
        command, *arguments = server.command
        trial = await try_server(connector, entry(command=command, args=[*arguments, "${secret:TOKEN}"]))
    assert trial.ok
    assert "${secret:TOKEN}" in trial.steps[0].detail
    assert not any("s3cret" in step.detail for step in trial.steps)


async def test_a_missing_secret_fails_the_first_step(connector: Connector):
    trial = await try_server(connector, entry(command="x", args=["${secret:NONE}"]))
    assert not trial.ok
    assert outline(trial) == [("resolve", False)]
    assert "NONE" in trial.steps[0].detail
    assert "toolcrib secret set NONE" in trial.steps[0].hint


async def test_a_command_that_is_not_there_fails_the_second(connector: Connector):
    without_node = replace(connector, environ={"PATH": "/nowhere"})
    trial = await try_server(without_node, entry(command="npx", args=["-y", "p"]))
    assert outline(trial) == [("resolve", True), ("spawn", False)]
    assert trial.steps[0].detail == "npx -y p"
    assert "was not found" in trial.steps[1].detail
    assert "Node.js" in trial.steps[1].hint


async def test_a_package_that_is_not_installed_fails_the_second(connector: Connector):
    trial = await try_server(connector, entry(type="npm", package="@scope/p"))
    assert outline(trial) == [("resolve", True), ("spawn", False)]
    assert trial.steps[0].detail == "@scope/p"
    assert "not installed" in trial.steps[1].detail


async def test_a_server_that_exits_fails_the_handshake_with_its_last_words(connector: Connector):
    spec = misbehaving("end", 3, "fatal: no key")
    trial = await try_server(connector, entry(command=spec.command, args=list(spec.args)))
    assert outline(trial) == [("resolve", True), ("spawn", True), ("handshake", False)]
    assert trial.steps[2].detail == "srv exited with code 3. Last output: fatal: no key"
    assert trial.steps[2].hint == "See `toolcrib logs srv`."


async def test_a_silent_server_fails_with_the_deadline(connector: Connector, puppet, clock: LoopClock):
    async with puppet({}) as server:
        trying = try_server(connector, played_by(server, timeout=30))
        trial = await clock.outlasts(trying, 30, begun=server.until(lambda: server.heard))
    assert outline(trial) == [("resolve", True), ("spawn", True), ("handshake", False)]
    assert trial.steps[2].detail == "No answer within 30 s."
    assert "timeouts.start" in trial.steps[2].hint


async def test_a_server_that_is_not_ready_in_time_is_quoted(connector: Connector):
    code = "import sys; print('error: cannot reach the hub', file=sys.stderr, flush=True); sys.stdin.read()"
    slow = entry(3.0, command=sys.executable, args=["-c", code])
    trial = await try_server(connector, slow)
    assert trial.steps[-1].detail == "No answer within 3 s. Last output: error: cannot reach the hub"


async def test_an_address_that_refuses_the_connection_is_not_said_to_be_connected(connector: Connector):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/mcp"
    trial = await try_server(connector, entry(type="http", url=url))
    assert outline(trial) == [("resolve", True), ("connect", False)]
    assert "the connection was refused" in trial.steps[-1].detail


async def test_a_server_that_refuses_the_handshake_is_quoted(connector: Connector, puppet):
    async with puppet({**LEGACY, "initialize": Refusal(-32603, "database is down")}) as server:
        trial = await try_server(connector, played_by(server))
    assert trial.steps[-1].detail == "srv refused the handshake: database is down"


async def test_a_server_that_refuses_to_list_fails_the_last(connector: Connector, puppet):
    refusal = Refusal(-32603, "database is down")
    async with puppet({**LEGACY, "tools/list": refusal}) as server:
        trial = await try_server(connector, played_by(server))
    assert outline(trial) == [*GOOD[:3], ("list", False)]
    assert "database is down" in trial.steps[3].detail
    assert trial.definitions == []


async def test_a_server_that_never_lists_fails_the_last(connector: Connector, puppet, clock: LoopClock):
    async def let_it_pass(server: Puppet, request: Message) -> None:
        await clock.passes(30)

    async with puppet({**LEGACY, "tools/list": let_it_pass}) as server:
        trial = await try_server(connector, played_by(server))
    assert outline(trial) == [*GOOD[:3], ("list", False)]
    assert "No answer" in trial.steps[3].detail
    assert trial.definitions == []


async def test_a_bad_tool_is_for_the_review_and_no_failure(connector: Connector, puppet):
    listed = [TOOL, {"description": "nameless"}]
    async with puppet({**LEGACY, "tools/list": {"tools": listed}}) as server:
        trial = await try_server(connector, played_by(server))
    assert trial.ok
    assert trial.definitions == listed


async def test_a_trial_cancelled_half_way_leaves_nothing(connector: Connector, puppet):
    async with puppet({}) as server:
        trying = asyncio.ensure_future(try_server(connector, played_by(server)))
        await server.expect("server/discover")
        trying.cancel()
        with pytest.raises(asyncio.CancelledError):
            await trying


async def test_the_server_may_ask_for_what_the_host_offers(connector: Connector, puppet):
    async def roots(server: str, params: dict[str, Any]) -> dict[str, Any]:
        return {"roots": []}

    async def ask_first(server: Puppet, message: Message) -> None:
        await server.ask("q", "roots/list")
        assert (await server.answer_to("q"))["result"] == {"roots": []}
        await server.reply(message, LEGACY["tools/list"])

    async with puppet({**LEGACY, "tools/list": ask_first}) as server:
        equipped = replace(connector, handlers=Handlers(roots=roots))
        assert (await try_server(equipped, played_by(server))).ok

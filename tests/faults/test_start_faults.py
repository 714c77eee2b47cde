"""Servers that fail to start, each in its own way. Numbers are those of the fault list."""

from __future__ import annotations

import os
import shlex
import stat
from datetime import datetime, timedelta

import pytest

from toolcrib.errors import ServerNotReady
from toolcrib.schema.servers import ServerState
from toolcrib.testing.clock import TurnedClock


async def test_01_a_server_that_always_exits_is_soon_tried_only_now_and_then_and_harms_no_other(crib, until):
    clock = TurnedClock()
    crib.server("broken", "exit", restart={"firstDelay": 1, "longestDelay": 5})
    crib.server("good")
    async with crib.open(clock=clock) as host:
        for restarts in range(1, 6):
            await until(
                host,
                lambda: (
                    host.servers.status("broken").restarts == restarts  # noqa: B023
                    and host.servers.status("broken").state is ServerState.BACKOFF
                ),
            )
            status = host.servers.status("broken")
            clock.turn(10 if restarts < 5 else 0)
        assert datetime.fromisoformat(status.retry_at) - clock.now() > timedelta(seconds=40)
        assert "frobnicator" in status.reason
        assert "toolcrib logs broken" in status.hint
        assert (await host.call("good__echo", {"text": "fine"}))["content"][0]["text"] == "fine"


async def test_02_an_exit_right_after_the_handshake_counts_as_a_crash(crib, until):
    crib.server("fleeting", "exit-after-handshake", args=("--era", "legacy"), restart={"firstDelay": 30})
    async with crib.open() as host:
        await until(host, lambda: host.servers.status("fleeting").state is ServerState.BACKOFF)
        assert "exited with code 0" in host.servers.status("fleeting").reason


async def test_03_a_missing_command_fails_at_once_and_says_where_it_was_looked_for(crib):
    crib.entry("absent", {"command": "no-such-program-anywhere"})
    async with crib.open() as host:
        await host.ready()
        status = host.servers.status("absent")
        assert status.state is ServerState.FAILED
        assert os.environ["PATH"] in status.reason
        assert "Install" in status.hint
        assert status.restarts == 0


async def test_a_command_that_is_put_in_place_later_starts_without_being_asked(crib, until, tmp_path):
    clock = TurnedClock()
    program = tmp_path / "late-program"
    crib.server("late")
    entry = crib.document["mcpServers"]["late"]
    line = shlex.join([entry["command"], *entry["args"]])
    crib.entry("late", {**entry, "command": str(program), "args": []})
    async with crib.open(clock=clock) as host:
        await until(host, lambda: host.servers.status("late").state is ServerState.FAILED)
        program.write_text(f"#!/bin/sh\nexec {line}\n")
        program.chmod(stat.S_IRWXU)
        clock.turn(100)
        await until(host, lambda: host.servers.status("late").state is ServerState.READY)
        assert (await host.call("late__echo", {"text": "here"}))["content"][0]["text"] == "here"


async def test_a_server_that_never_was_ready_is_waited_for_in_full_only_the_first_time(crib, until):
    crib.server("hanging", "hang", timeouts={"start": 1}, restart={"firstDelay": 0.01, "giveUpAfter": 99})
    async with crib.open() as host:
        await until(host, lambda: host.servers.status("hanging").restarts == 1)
        assert host.servers["hanging"]._patience() == host.settings.call_wait


async def test_04_a_file_that_cannot_be_executed_fails_at_once(crib, tmp_path):
    program = tmp_path / "program"
    program.write_bytes(b"\x00\x01\x02 not a program")
    crib.entry("plain", {"command": str(program)})
    program_of_another_kind = tmp_path / "foreign"
    program_of_another_kind.write_bytes(b"\x7fELF\x02\x01\x01" + b"\0" * 57)
    program_of_another_kind.chmod(stat.S_IRWXU)
    crib.entry("foreign", {"command": str(program_of_another_kind)})
    async with crib.open() as host:
        await host.ready()
        assert host.servers.status("plain").state is ServerState.FAILED
        assert "chmod +x" in host.servers.status("plain").hint
        assert host.servers.status("foreign").state is ServerState.FAILED
        assert host.servers.status("foreign").restarts == 0


async def test_05_a_server_that_hangs_at_start_is_ended_and_blocks_nobody(crib, until):
    crib.server("hanging", "hang", "stubborn", timeouts={"start": 1}, restart={"enabled": False})
    crib.server("good")
    async with crib.open() as host:
        await until(host, lambda: host.servers.status("good").state is ServerState.READY)
        assert host.servers.status("hanging").state is ServerState.STARTING
        await until(host, lambda: host.servers.status("hanging").state is ServerState.FAILED)
        assert "not ready within 1 s" in host.servers.status("hanging").reason


async def test_06_a_slow_start_is_no_failure(crib):
    crib.server("slow", "slow", args=("--delay", "2"))
    async with crib.open() as host:
        await host.ready()
        status = host.servers.status("slow")
        assert (status.state, status.restarts) == (ServerState.READY, 0)


@pytest.mark.parametrize("fault", ["banner", "rubbish", "non-utf8"])
async def test_07_rubbish_on_stdout_is_counted_and_shown_but_harms_nothing(crib, fault):
    crib.server("noisy", fault)
    async with crib.open() as host:
        await host.ready()
        assert (await host.call("noisy__echo", {"text": "x"}))["content"][0]["text"] == "x"
        assert host.servers.status("noisy").junk_lines > 0
        assert any("[stdout]" in line for line in host.log_lines("noisy"))


@pytest.mark.parametrize("fault", ["die-on-probe", "ignore-probe"])
async def test_a_server_that_cannot_stand_the_probe_is_reached_in_the_legacy_era(crib, fault, monkeypatch):
    monkeypatch.setattr("toolcrib.servers.sessions.negotiation.PROBE_PATIENCE", 0.3)
    crib.server("old", fault, args=("--era", "legacy", "--protocol", "2024-11-05"))
    async with crib.open() as host:
        await host.ready()
        status = host.servers.status("old")
        assert (status.state, status.era, status.restarts) == (ServerState.READY, "2024-11-05", 0)
    async with crib.open() as host:  # remembered: no probe, no second process
        await host.ready()
        assert (await host.call("old__count", {}))["content"][0]["text"] == "1"
        assert host.servers.status("old").era == "2024-11-05"


async def test_16_a_crash_while_listing_leaves_the_old_tools_marked_as_stale(crib, until, tmp_path):
    crib.server(
        "lister", "exit-on-list", args=("--marker", str(tmp_path / "seen")), restart={"firstDelay": 30}
    )
    async with crib.open() as host:
        await host.ready()
        known = len(host.tools("lister"))
        assert known > 0
        await host.call("lister__change", {})
        await until(host, lambda: host.servers.status("lister").state is ServerState.BACKOFF)
        assert len(host.tools("lister")) == known
        assert all(tool.stale for tool in host.tools("lister"))
        assert host.servers.status("lister").stale_tools


async def test_a_malformed_tool_is_lost_alone(crib):
    crib.server("sloppy", "bad-tool")
    async with crib.open() as host:
        await host.ready()
        assert "sloppy__echo" in [tool.name for tool in host.tools("sloppy")]
        assert len(host.tools("sloppy")) == 9


async def test_an_unset_variable_needs_configuration_and_is_named(crib):
    crib.entry("wanting", {"command": "x", "env": {"KEY": "${NO_SUCH_VARIABLE_HERE}"}})
    async with crib.open() as host:
        await host.ready()
        status = host.servers.status("wanting")
        assert status.state is ServerState.NEEDS_CONFIG
        assert "NO_SUCH_VARIABLE_HERE" in status.reason


async def test_a_call_to_a_server_that_failed_is_refused_at_once_with_the_reason(crib):
    crib.server("flaky", restart={"enabled": False})
    async with crib.open() as host:
        await host.ready()
        tool = host.toolset.registry.resolve("flaky__echo")
        with pytest.raises(Exception, match="exited with code 1"):
            await host.call("flaky__crash", {"code": 1})
        await host.servers["flaky"].settled()
        with pytest.raises(ServerNotReady, match="exited with code 1"):
            await host.servers.call_tool("flaky", tool.definition.name, {}, timeout=5)

"""No server runs that a person has not agreed to; what is agreed to is exactly what was shown."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import toolcrib
from toolcrib.cli.host_connection import reach
from toolcrib.errors import NotTrusted, UsageError
from toolcrib.schema.servers import ServerState
from toolcrib.store.trust import EVERYTHING


@pytest.fixture(autouse=True)
def _distrusting(monkeypatch):
    monkeypatch.setenv(EVERYTHING, "0")


def touching(marker: Path, *more: str) -> dict:
    """An entry whose command leaves a trace when it runs."""
    return {"command": "/bin/sh", "args": ["-c", f"touch {marker}; exec cat", *more]}


async def waits(host, name: str, marker: Path) -> None:
    await host.ready()
    status = host.servers.status(name)
    assert status.state is ServerState.NEEDS_TRUST
    assert f"toolcrib trust {name}" in status.hint
    assert not marker.exists()


async def test_an_entry_that_somebody_wrote_into_the_file_never_runs_by_itself(crib, tmp_path):
    marker = tmp_path / "ran"
    crib.entry("pasted", touching(marker))
    async with crib.open() as host:
        await waits(host, "pasted", marker)
        with pytest.raises(NotTrusted):
            host.servers["pasted"].start()
        with pytest.raises(NotTrusted):
            await host.try_server("pasted")
        with pytest.raises(NotTrusted):
            await host.servers["pasted"].restart()
        assert not marker.exists()


async def test_the_servers_of_a_new_home_are_ours_until_someone_changes_them(crib, tmp_path):
    home = tmp_path / "fresh"
    async with toolcrib.open_host(home) as host:
        await host.ready()
        assert {str(status.state) for status in host.servers.statuses()} == {"ready"}
        with host.core.config_store.edit() as document:
            document["mcpServers"]["filesystem"]["args"] = ["/"]
        await host.reload()
        status = host.servers.status("filesystem")
        assert status.state is ServerState.NEEDS_TRUST
        assert "changed" in status.reason
        assert host.servers.status("demo").state is ServerState.READY


async def test_agreeing_starts_it_now_and_at_every_later_start(crib):
    crib.server("honest")
    async with crib.open() as host:
        assert host.servers.status("honest").state is ServerState.NEEDS_TRUST
        await host.agree("honest")
        await host.ready()
        assert host.servers.status("honest").state is ServerState.READY
    async with crib.open() as host:
        await host.ready()
        assert host.servers.status("honest").state is ServerState.READY


@pytest.mark.parametrize(
    "change",
    [
        {"args": ["-m", "toolcrib.testing.server", "--name", "other"]},
        {"command": "/bin/false"},
        {"cwd": "/"},
        {"env": {"NEW": "x"}},
        {"envAllow": ["HOME_TOKEN"]},
        {"env": {"NODE_OPTIONS": "--require ./evil.js"}},
        {"type": "http", "url": "http://127.0.0.1:9/mcp"},
    ],
)
async def test_any_change_of_what_runs_waits_again_and_ends_what_ran_before(crib, change):
    crib.server("edited")
    async with crib.open() as host:
        await host.agree("edited")
        await host.ready()
        pid = host.servers.status("edited").pid
        crib.document["mcpServers"]["edited"].update(change)
        crib.write()
        await host.reload()
        assert host.servers.status("edited").state is ServerState.NEEDS_TRUST
        assert not Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize(
    "change", [{"timeouts": {"call": 5}}, {"tools": {"exclude": ["pid"]}}, {"lazy": True}]
)
async def test_a_change_that_runs_nothing_else_asks_nobody(crib, change):
    crib.server("tuned")
    async with crib.open() as host:
        await host.agree("tuned")
        crib.document["mcpServers"]["tuned"].update(change)
        crib.write()
        await host.reload()
        await host.ready()
        assert host.servers.status("tuned").state is ServerState.READY


async def test_values_of_plain_variables_may_change_those_that_make_code_run_may_not(crib):
    crib.server("valued", env={"LEVEL": "1", "PYTHONPATH": "/a"})
    async with crib.open() as host:
        await host.agree("valued")
        entry = crib.document["mcpServers"]["valued"]
        entry["env"]["LEVEL"] = "2"
        crib.write()
        await host.reload()
        assert host.servers.status("valued").state is not ServerState.NEEDS_TRUST
        entry["env"]["PYTHONPATH"] = "/b"
        crib.write()
        await host.reload()
        assert host.servers.status("valued").state is ServerState.NEEDS_TRUST


async def test_adding_by_hand_is_agreeing(crib):
    crib.write()
    command = {"command": sys.executable, "args": ["-m", "toolcrib.testing.server", "--name", "added"]}
    async with reach(crib.home) as commands:
        await commands.add(name="added", entry=command)
    async with toolcrib.open_host(crib.home) as host:
        await host.ready()
        assert host.servers.status("added").state is ServerState.READY


async def test_what_waits_is_shown_whole_and_agreed_to_as_shown(crib):
    crib.server("first", env={"TOKEN": "secret-value"}, cwd="/")

    async def trust(**agree: str) -> list[dict]:
        async with reach(crib.home) as commands:
            return (await commands.trust(agree=agree))["servers"]

    (shown,) = await trust()
    assert shown["launch"]["command"] == sys.executable
    assert shown["launch"]["cwd"] == "/"
    assert shown["launch"]["env"] == {"TOKEN": None}
    assert "secret-value" not in str(shown["launch"])
    crib.document["mcpServers"]["first"]["args"].append("--era=legacy")
    crib.write()
    with pytest.raises(UsageError, match="has changed since it was shown"):
        await trust(first=shown["mark"])
    (again,) = await trust()
    (agreed,) = await trust(first=again["mark"])
    assert agreed["trusted"]
    assert await trust() == []
    crib.document["mcpServers"]["first"]["args"].pop()
    crib.write()
    (changed,) = await trust()
    assert changed["changed"]["args"]["before"][-1] == "--era=legacy"


async def test_a_container_may_trust_its_config_file(crib, monkeypatch):
    monkeypatch.setenv(EVERYTHING, "1")
    crib.server("provisioned")
    async with crib.open() as host:
        await host.ready()
        assert host.servers.status("provisioned").state is ServerState.READY

"""What commands may touch, in each sandbox that this machine can make; where none holds, it says why."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bundled.terminal.conftest import KINDS
from tests.bundled.terminal.processes import DEADLINE, carrying, until
from tests.bundled.terminal.test_running import ESCAPES, mark, text
from toolcrib.bundled.terminal.kernel_rules import landlock_version
from toolcrib.bundled.terminal.sandbox import Kind, Sandbox, missing
from toolcrib.bundled.terminal.tools import TerminalTools
from toolcrib.bundled.terminal.workplace import Workplace, finished
from toolcrib.serverkit.context import ToolFailure


@pytest.mark.parametrize("kind", ["bubblewrap", "landlock", "none"])
def test_each_kind_holds_or_says_why_not(kind: Kind) -> None:
    sandbox = Sandbox(wanted=kind)

    assert sandbox.kind == ("none" if missing(kind) else kind)
    assert sandbox.describe().startswith(sandbox.kind)
    assert missing(kind) in sandbox.describe()


def test_the_strongest_that_works_is_taken() -> None:
    assert Sandbox().kind == next(kind for kind in KINDS if not missing(kind))
    assert "no network" in Sandbox(network=False).describe() or Sandbox().kind == "none"


def test_a_bubblewrap_that_is_not_allowed_to_work_is_not_believed_in(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from toolcrib.bundled.terminal import sandbox

    refusing = tmp_path / "bwrap"
    refusing.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2; exit 1\n")
    refusing.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(sandbox, "find_bubblewrap", sandbox.find_bubblewrap.__wrapped__)

    assert Sandbox(wanted="bubblewrap").kind == "none"
    assert "No permissions to create new namespace" in Sandbox(wanted="bubblewrap").describe()


async def test_writing_is_for_the_given_folders(confined: Callable[..., Workplace], tmp_path: Path) -> None:
    outside, granted = tmp_path / "outside", tmp_path / "granted"
    outside.mkdir()
    granted.mkdir()
    place = confined(folders=[str(granted)])
    command = (
        f"echo x > in; echo x > {granted}/g; echo x > {outside}/o; echo x > /dev/null; cat in {granted}/g"
    )

    result = text(await TerminalTools(place).run_command(command))

    held = place.sandbox.kind != "none"
    assert result.endswith("x\nx\n[exit code 0]")
    assert (outside / "o").exists() is not held


async def test_a_command_starts_where_it_is_told(confined: Callable[..., Workplace], folder: Path) -> None:
    (folder / "sub").mkdir()

    result = text(await TerminalTools(confined()).run_command("pwd; echo x > ../in && cat ../in", cwd="sub"))

    assert result == f"{folder}/sub\nx\n[exit code 0]"


async def test_hidden_places_cannot_be_read(confined: Callable[..., Workplace], elsewhere: Path) -> None:
    secrets, beside = elsewhere / "home" / ".keys", elsewhere / "home" / "notes"
    secrets.mkdir(parents=True)
    (secrets / "key").write_text("very secret")
    beside.write_text("quite open")
    lone = elsewhere / "home" / ".netrc"
    lone.write_text("very secret")
    (elsewhere / "home" / "link").symlink_to(secrets)
    place = confined(hidden=[str(secrets), str(lone)])

    result = text(
        await TerminalTools(place).run_command(f"cat {secrets}/key {elsewhere}/home/link/key {lone} {beside}")
    )

    assert "quite open" in result
    assert ("very secret" in result) is (place.sandbox.kind == "none")


async def test_the_network_can_be_shut(confined: Callable[..., Workplace]) -> None:
    met: list[bool] = []

    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        met.append(True)
        writer.write(b"hello")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(greet, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        visit = f"cat < /dev/tcp/127.0.0.1/{port}"
        free = text(await TerminalTools(confined()).run_command(visit))
        place = confined(network=False)
        shut = text(await TerminalTools(place).run_command(visit))

    holds = place.sandbox.kind == "bubblewrap" or (
        place.sandbox.kind == "landlock" and landlock_version() >= 4
    )
    assert "hello" in free
    assert ("hello" in shut) is not holds
    assert len(met) == (1 if holds else 2)


async def test_the_processes_of_others_are_out_of_reach(confined: Callable[..., Workplace]) -> None:
    place = confined()
    own = os.getpid()

    result = text(await TerminalTools(place).run_command(f"kill -0 {own} && echo reached; ls /proc/{own}/fd"))

    held = place.sandbox.kind == "bubblewrap" or (
        place.sandbox.kind == "landlock" and landlock_version() >= 6
    )
    assert ("reached" in result) is not held


@pytest.mark.parametrize("escape", [ESCAPES[2], ESCAPES[3], ESCAPES[4]])
async def test_a_stop_ends_all_in_every_sandbox(confined: Callable[..., Workplace], escape: str) -> None:
    seconds = mark()
    terminal = TerminalTools(confined())
    running = asyncio.create_task(terminal.run_command(escape.format(mark=seconds)))
    await until(lambda: len(carrying(f"sleep\0{seconds}")) >= 1)

    running.cancel()
    await asyncio.wait([running], timeout=DEADLINE)

    assert running.cancelled()
    assert carrying(seconds) == []


async def test_an_interrupt_by_key_is_for_the_command(confined: Callable[..., Workplace]) -> None:
    terminal = TerminalTools(confined())
    started = await terminal.run_command(
        "trap 'echo caught; exit 7' INT; echo ready; sleep 600", pty=True, background=True
    )
    session = terminal.sessions.find(started["structuredContent"]["session_id"])
    await until(lambda: "ready" in session.running.text())

    await terminal.send_input(session.id, "\x03")
    async with asyncio.timeout(DEADLINE):
        await session.running.done.wait()

    assert "caught" in session.running.text()
    assert session.running.code == 7


async def test_a_stop_asks_before_it_insists(confined: Callable[..., Workplace], folder: Path) -> None:
    terminal = TerminalTools(confined())
    command = "trap 'echo asked > asked; exit' TERM; echo ready; while true; do sleep 0.01; done"
    started = await terminal.run_command(command, background=True)
    session = terminal.sessions.find(started["structuredContent"]["session_id"])
    await until(lambda: "ready" in session.running.text())

    await session.running.stop()

    assert (folder / "asked").read_text() == "asked\n"


async def test_files_are_searched_only_where_commands_work(
    confined: Callable[..., Workplace], folder: Path, tmp_path: Path
) -> None:
    granted, outside = tmp_path / "granted", tmp_path / "outside"
    for place in (granted, outside, folder / "sub", folder / "keys"):
        place.mkdir()
        (place / "found.txt").touch()
    (folder / "away").symlink_to(outside)
    terminal = TerminalTools(confined(folders=[str(granted)], hidden=[str(folder / "keys")]))

    assert await terminal.find_files("*.txt") == "sub/found.txt"
    assert await terminal.find_files("*.txt", "sub") == "found.txt"
    assert await terminal.find_files("*.txt", str(granted)) == "found.txt"
    for directory in ("..", "/", "/etc", str(outside), "~", "sub/../..", "away", "keys"):
        with pytest.raises(ToolFailure, match="may not be searched"):
            await terminal.find_files("*", directory)


async def test_a_command_is_ended_above_its_limit(held: Callable[..., Workplace]) -> None:
    place = held()
    place.max_disk = 20 * 1024 * 1024
    script = "for n in $(seq 75); do head -c 4000000 /dev/zero > $TMPDIR/$n; done; sleep 60"

    running = place.shell(script, None)
    assert await finished(running, 60)
    assert "more than 20 MiB on disk" in running.why

    tidying = place.shell("sleep 1; rm $TMPDIR/*; echo tidied", None)
    assert await finished(tidying, 60)
    assert "tidied" in tidying.text()

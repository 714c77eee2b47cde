"""Commands run, print, are cut, and are ended with everything they started."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.bundled.terminal.processes import DEADLINE, carrying, until
from toolcrib.bundled.terminal.sessions import CommandSessions
from toolcrib.bundled.terminal.tools import TerminalTools
from toolcrib.bundled.terminal.workplace import Workplace
from toolcrib.serverkit import caller_context
from toolcrib.serverkit.context import ToolFailure

ESCAPES = [
    "sleep {mark} & wait",
    "setsid sleep {mark} & wait",
    "(setsid sh -c 'sleep {mark} & sleep {mark}' &) ; sleep {mark}",
    "nohup env -i setsid sleep {mark} >/dev/null 2>&1 & sleep {mark}",
    "trap '' TERM HUP INT; sleep {mark} & while true; do sleep {mark}; done",
    "bash -c 'trap \"\" TERM; (sleep {mark} &) ; exec sleep {mark}'",
]


def mark() -> str:
    """A number of seconds that nobody else sleeps."""
    return f"{4000 + secrets.randbelow(1000)}.{secrets.randbelow(10**9)}"


def text(result: dict[str, Any]) -> str:
    return str(result["content"][0]["text"])


async def test_output_and_exit_code_are_told(terminal: TerminalTools) -> None:
    result = await terminal.run_command("echo out; echo err >&2; exit 3")

    assert text(result) == "out\nerr\n[exit code 3]"
    assert result["structuredContent"] == {
        "output": "out\nerr\n",
        "exit_code": 3,
        "running": False,
        "note": "",
    }


async def test_it_runs_where_it_is_told(terminal: TerminalTools, folder: Path) -> None:
    (folder / "sub").mkdir()

    assert str(folder / "sub") in text(await terminal.run_command("pwd", cwd="sub"))
    with pytest.raises(ToolFailure, match="is not a folder"):
        await terminal.run_command("pwd", cwd="nowhere")


async def test_there_is_no_input_in_the_foreground(terminal: TerminalTools) -> None:
    result = await terminal.run_command("cat; read x || echo nothing; git --version > /dev/null; echo done")

    assert "nothing\ndone" in text(result)


async def test_a_command_that_takes_too_long_is_ended_and_what_it_said_is_told(
    terminal: TerminalTools,
) -> None:
    seconds = mark()

    result = await terminal.run_command(f"echo before; sleep {seconds}", timeout=5)

    assert result["isError"]
    assert "before" in text(result)
    assert "ended after 5 seconds" in text(result)
    assert carrying(seconds) == []


@pytest.mark.parametrize("command", ESCAPES)
async def test_a_cancelled_command_leaves_nothing(terminal: TerminalTools, command: str) -> None:
    seconds = mark()
    running = asyncio.create_task(terminal.run_command(command.format(mark=seconds)))
    await until(lambda: carrying(f"sleep\0{seconds}"))

    running.cancel()
    await asyncio.wait([running], timeout=DEADLINE)

    assert running.cancelled()
    assert carrying(seconds) == []


async def test_what_a_command_leaves_behind_is_ended_with_it(confined: Callable[..., Workplace]) -> None:
    seconds, place = mark(), confined()

    result = await TerminalTools(place).run_command(f"setsid sleep {seconds} > /dev/null 2>&1 & echo gone")

    assert carrying(seconds) == []
    told = "1 processes that it left behind were ended" in text(result)
    assert told is (place.sandbox.kind != "bubblewrap")  # there it ends with its namespace, uncounted


async def test_a_killed_keeper_takes_the_rest_with_it(workplace: Callable[..., Workplace]) -> None:
    seconds = mark()
    terminal = TerminalTools(workplace(sandbox={"wanted": "none"}))

    result = await terminal.run_command(f"sleep {seconds} & kill -9 $PPID; sleep {seconds}")

    assert "keeper was killed" in text(result)
    await until(lambda: not carrying(seconds))


async def test_endless_output_is_cut_and_memory_stays(terminal: TerminalTools) -> None:
    result = await terminal.run_command("yes 0123456789 | head -c 20000000; echo end")

    assert len(text(result)) < 100_000
    assert "bytes left out" in text(result)
    assert text(result).endswith("end\n[exit code 0]")


async def test_too_many_processes_are_ended(workplace: Callable[..., Workplace]) -> None:
    seconds = mark()
    terminal = TerminalTools(workplace(max_processes=40))

    result = await terminal.run_command(f"for i in $(seq 200); do setsid sleep {seconds} & done; wait")

    assert "it started more than 40 processes" in text(result)
    assert carrying(seconds) == []


async def test_too_much_memory_is_ended(workplace: Callable[..., Workplace]) -> None:
    terminal = TerminalTools(workplace(max_memory=100 * 2**20))

    result = await terminal.run_command(
        "python3 -c 'x = bytearray(400 * 2**20); import time; time.sleep(60)'"
    )

    assert "it took more than 100 MiB of memory" in text(result)


async def test_the_destructive_is_refused_even_without_a_gate(terminal: TerminalTools) -> None:
    with pytest.raises(ToolFailure, match="is refused"):
        await terminal.run_command("rm -rf /")


async def test_the_environment_is_small_and_the_path_is_locked(
    terminal: TerminalTools, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "x")
    monkeypatch.setenv("LD_PRELOAD", "")
    monkeypatch.setenv("BASH_ENV", str(folder / "evil"))
    monkeypatch.setenv("PATH", f".:{folder}/bin:bin:/usr/bin:/bin")
    (folder / "bin").mkdir()
    (folder / "bin" / "ls").write_text("#!/bin/sh\necho PWNED\n")
    (folder / "bin" / "ls").chmod(0o755)
    (folder / "evil").write_text("echo PWNED\n")

    seen = text(await terminal.run_command("env; ls"))

    assert "SECRET_TOKEN" not in seen
    assert "BASH_ENV" not in seen
    assert "PWNED" not in seen
    path = next(line for line in seen.splitlines() if line.startswith("PATH="))
    assert str(folder) not in path
    assert all(part.startswith("/") for part in path.removeprefix("PATH=").split(":"))


async def test_a_repository_cannot_choose_a_program_for_git_status(
    terminal: TerminalTools, folder: Path
) -> None:
    await terminal.run_command("git init -q . && git config core.fsmonitor 'touch pwned; false'")

    await terminal.run_command("git status")

    assert not (folder / "pwned").exists()


async def test_whoever_is_cancelled_twice_still_waits_for_the_end(terminal: TerminalTools) -> None:
    seconds = mark()
    running = asyncio.create_task(terminal.run_command(f"trap '' TERM; sleep {seconds} & sleep {seconds}"))
    await until(lambda: len(carrying(f"sleep\0{seconds}")) == 2)

    while not running.done():
        running.cancel()
        await asyncio.sleep(0)

    assert running.cancelled()
    assert carrying(seconds) == []


async def test_who_stops_a_command_hears_how_many_processes_ended(
    confined: Callable[..., Workplace],
) -> None:
    tools = TerminalTools(confined(), CommandSessions())
    seconds, heard = mark(), list[int]()
    caller_context.ended.set(heard.append)
    running = asyncio.create_task(tools.run_command(f"sleep {seconds} & sleep {seconds} & wait"))
    await until(lambda: len(carrying(f"sleep\0{seconds}")) == 2)

    running.cancel()
    await asyncio.wait([running])

    assert running.cancelled()
    assert heard == [3], "the shell and its two children; what walls them in is none of theirs"

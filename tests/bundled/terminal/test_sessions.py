"""Commands in the background: read, typed into, ended; each belongs to who started it."""

from __future__ import annotations

import asyncio

import pytest

from tests.bundled.terminal.processes import DEADLINE, carrying, until
from tests.bundled.terminal.test_running import mark, text
from toolcrib.bundled.terminal.tools import TerminalTools
from toolcrib.serverkit import caller_context
from toolcrib.serverkit.context import ToolFailure


async def shown(terminal: TerminalTools, session_id: str, wanted: str) -> str:
    """What a session shows once it shows this."""
    async with asyncio.timeout(DEADLINE):
        while wanted not in (seen := text(await terminal.read_output(session_id))):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    return seen


async def test_input_reaches_a_command_in_the_background(terminal: TerminalTools) -> None:
    started = await terminal.run_command('while read -r x; do echo "got $x"; done', background=True)
    session_id = started["structuredContent"]["session_id"]

    await terminal.send_input(session_id, "one\ntwo\n")

    assert "running" in await shown(terminal, session_id, "got two")
    ended = await terminal.kill_process(session_id)
    assert not ended["structuredContent"]["running"]
    with pytest.raises(ToolFailure, match="takes no input"):
        await terminal.send_input(session_id, "x")


async def test_a_killed_session_takes_what_it_started(terminal: TerminalTools) -> None:
    seconds = mark()
    started = await terminal.run_command(f"setsid sleep {seconds} & sleep {seconds}", background=True)
    await until(lambda: len(carrying(f"sleep\0{seconds}")) == 2)

    await terminal.kill_process(started["structuredContent"]["session_id"])

    assert carrying(seconds) == []


async def test_a_full_screen_program_shows_its_screen(terminal: TerminalTools) -> None:
    started = await terminal.run_command(
        "printf '\\033[2J\\033[3;5Htop line'; printf '\\033[10;1Hsize %s' \"$(tput cols)\";"
        ' read x; echo "<$x>"',
        pty=True,
        background=True,
    )
    session_id = started["structuredContent"]["session_id"]

    seen = await shown(terminal, session_id, "size 120")
    assert seen.splitlines()[2] == "    top line"
    await terminal.send_input(session_id, "hello\n")
    assert "<hello>" in await shown(terminal, session_id, "exit code 0")


async def test_a_program_with_a_terminal_can_be_interrupted_by_its_key(terminal: TerminalTools) -> None:
    started = await terminal.run_command(
        "trap 'echo caught; exit 7' INT; echo ready; sleep 600", pty=True, background=True
    )
    session_id = started["structuredContent"]["session_id"]
    await shown(terminal, session_id, "ready")

    await terminal.send_input(session_id, "\x03")

    assert "caught" in await shown(terminal, session_id, "exit code 7")


async def test_one_session_cannot_reach_anothers(terminal: TerminalTools) -> None:
    started = await terminal.run_command("sleep 600", background=True)
    session_id = started["structuredContent"]["session_id"]
    token = caller_context.session.set("another")
    try:
        for attempt in (terminal.read_output, terminal.kill_process):
            with pytest.raises(ToolFailure, match="no background session"):
                await attempt(session_id)
    finally:
        caller_context.session.reset(token)


async def test_all_of_a_session_can_be_ended_at_once(terminal: TerminalTools) -> None:
    seconds = mark()
    token = caller_context.session.set("chat")
    try:
        for _ in range(3):
            await terminal.run_command(f"sleep {seconds}", background=True)
    finally:
        caller_context.session.reset(token)
    await terminal.run_command(f"sleep {seconds}", background=True)
    await until(lambda: len(carrying(f"sleep\0{seconds}")) == 4)

    await terminal.sessions.end_owner("chat")

    assert len(carrying(f"sleep\0{seconds}")) == 1
    await terminal.sessions.end_all()
    assert carrying(seconds) == []


async def test_the_surroundings_and_files_are_told(terminal: TerminalTools) -> None:
    told = await terminal.get_environment()
    await terminal.run_command("mkdir -p a/b node_modules; touch a/b/x.py a/y.py node_modules/z.py")

    assert "sandbox: " in told
    assert "git: git version" in told
    assert (await terminal.find_files("*.py")).splitlines() == ["a/y.py", "a/b/x.py"]
    assert await terminal.find_files("a/**/x.py") == "a/b/x.py"
    assert await terminal.find_files("*.py", directory="a/b") == "x.py"
    assert await terminal.find_files("*.rs") == "No file matches."

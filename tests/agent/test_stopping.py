"""Stop means stop: in the middle of three parallel tools, nothing is left running, and the chat goes on.

How long that takes is measured by `tests/soak/test_stop_time.py`, which a loaded machine does not run.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path

from tests.conftest import Crib
from toolcrib.agent.events import CallBegan
from toolcrib.approvals.gate import AllowAll
from toolcrib.testing.model import ScriptedModel, calls

DEADLINE = 60.0
MARK = f"47{secrets.randbelow(10**6):06}"
"""Seconds that nobody else on this machine sleeps, not even another run of this test."""
ESCAPE = f"""
setsid bash -c '(sleep {MARK}.1 & wait) & disown; exit' &
sleep {MARK}.2
"""
"""A command that forks twice and leaves its session."""


async def until(condition: Callable[[], bool]) -> None:
    """Look again and again: the processes of others tell nobody when they come and go."""
    async with asyncio.timeout(DEADLINE):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.05)


def sleepers() -> list[str]:
    """The command lines of the processes that were started, wherever they hide."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                found.append((entry / "cmdline").read_text())
            except OSError:
                continue
    return [one for one in found if one.startswith(f"sleep\x00{MARK}")]


async def test_stop_in_the_middle_of_three_tools_leaves_nothing(crib: Crib, tmp_path: Path) -> None:
    crib.server("box")
    project = tmp_path / "project"
    project.mkdir()
    model = ScriptedModel(
        calls(
            ("terminal__run_command", {"command": ESCAPE}),
            ("box__sleep", {"seconds": 300}),
            ("box__sleep", {"seconds": 300}),
        ),
        "All right.",
    )
    async with crib.open(gate=AllowAll()) as host:
        host.open_workbench()
        await host.ready()
        agent = host.agent(model, project=str(project))
        async with asyncio.timeout(DEADLINE):
            async with aclosing(agent.run("work")) as events:
                begun = 0
                async for event in events:
                    begun += isinstance(event, CallBegan)
                    if begun == 3:
                        break
                await until(lambda: len(sleepers()) == 2)
            assert sleepers() == []  # Whoever stops waits for the end, and nothing is left to wait for.
        ended = await agent.ask("never mind", chat=await host.chats.load("last"))

    assert ended.answer == "All right."

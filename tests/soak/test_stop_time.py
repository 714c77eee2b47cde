"""From the word to stop until nothing is left of three tools, one of them a command that forked twice."""

from __future__ import annotations

import asyncio
import statistics
import time
from pathlib import Path

import pytest

from tests.agent.test_stopping import ESCAPE, sleepers, until
from tests.bundled.terminal.conftest import KINDS, available
from tests.conftest import Crib
from toolcrib.approvals.gate import AllowAll
from toolcrib.bundled.terminal.sandbox import Kind
from toolcrib.testing.model import ScriptedModel, calls

DEADLINE = 60.0
BOUND = 1.0
TIMES = 20
STUBBORN = f"trap '' TERM HUP INT; {ESCAPE}"
"""The same, and it does not listen to those who ask."""


@pytest.mark.soak
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("command", [ESCAPE, STUBBORN], ids=["ordinary", "stubborn"])
async def test_a_stop_takes_less_than_a_second(crib: Crib, tmp_path: Path, kind: Kind, command: str) -> None:
    crib.server("box")
    crib.setting(terminal={"sandbox": available(kind)})
    work = calls(
        ("terminal__run_command", {"command": command}),
        ("box__sleep", {"seconds": 300}),
        ("box__sleep", {"seconds": 300}),
    )
    taken: list[float] = []
    async with crib.open(gate=AllowAll()) as host:
        host.open_workspace_tools()
        await host.ready()
        for _ in range(TIMES):
            turn = await host.chats.turns.start(
                host.agent(ScriptedModel(work), project=str(tmp_path)), "work"
            )
            await until(lambda: len(sleepers()) == 2)
            begun = time.monotonic()
            await asyncio.wait_for(turn.stop(), DEADLINE)
            taken.append(time.monotonic() - begun)
            assert sleepers() == []

    print(f"{kind}: median {statistics.median(taken):.3f} s, longest {max(taken):.3f} s")
    assert max(taken) < BOUND

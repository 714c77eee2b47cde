"""Ending a group in order, and what it holds in memory."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys

import pytest

from tests.servers.children import alive
from toolcrib.servers.processes import termination
from toolcrib.servers.processes.termination import end_group, memory_of_group

pytestmark = pytest.mark.usefixtures("tidy")


def group(code: str) -> subprocess.Popen[bytes]:
    """A Python process with a group of its own that has printed a line."""
    process = subprocess.Popen(
        [sys.executable, "-S", "-E", "-c", code], start_new_session=True, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.readline()
    return process


async def test_the_memory_of_a_group_is_that_of_all_its_processes():
    hoard = "x = bytearray(b'x') * (30 << 20)"
    alone = group(f"{hoard}; print(flush=True); import time; time.sleep(300)")
    family = group(f"import os; os.fork(); {hoard}; print(flush=True); import time; time.sleep(300)")
    assert family.stdout is not None
    family.stdout.readline()
    one, two = memory_of_group(alone.pid), memory_of_group(family.pid)
    assert 30 << 20 < one < 60 << 20
    assert 60 << 20 < two < 120 << 20
    for process in (alone, family):
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert process.stdout is not None
        process.stdout.close()
    assert memory_of_group(alone.pid) == 0


@pytest.mark.parametrize(
    ("code", "how", "patience"),
    [
        ("print(flush=True); import time; time.sleep(300)", -signal.SIGTERM, 60),
        (
            "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True);"
            "time.sleep(300)",
            -signal.SIGKILL,
            0.3,
        ),
        (
            "import signal, sys, time; signal.signal(signal.SIGTERM, lambda *_: sys.exit(7));"
            "print(flush=True); time.sleep(300)",
            7,
            60,
        ),
    ],
    ids=["polite", "deaf", "tidy"],
)
async def test_it_is_asked_first_and_killed_only_when_it_does_not_listen(
    brisk, monkeypatch, code: str, how: int, patience: float
):
    monkeypatch.setattr(termination, "GRACE_AFTER_TERM", patience)
    process = group(code)
    gone = asyncio.Event()

    async def reap() -> None:
        await asyncio.to_thread(process.wait)
        gone.set()

    reaping = asyncio.ensure_future(reap())
    await end_group(process.pid, "no-such-marker", gone)
    await reaping
    assert process.returncode == how
    assert not alive(process.pid)
    assert process.stdout is not None
    process.stdout.close()

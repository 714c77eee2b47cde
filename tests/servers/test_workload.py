"""What the system says of a process: at work, or asleep."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from toolcrib.servers.starts import Workload, processor_is_idle

TOLD = Path("/proc/self/stat").exists()
"""Only Linux tells."""

SPIN = "print(flush=True)\nwhile True: pass"
SLEEP = "import sys; print(flush=True); sys.stdin.read()"
LAUNCH = f"import subprocess, sys; subprocess.run([sys.executable, '-I', '-c', {SPIN!r}])"


@contextmanager
def running(program: str) -> Iterator[Workload]:
    """A program that has said it is there."""
    command = [sys.executable, "-I", "-c", program]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield Workload(process.pid)
        finally:
            subprocess.run(["pkill", "-KILL", "-g", str(process.pid)], check=False)


def seen(workload: Workload, wanted: bool | None) -> bool:
    """Whether three looks in a row came out as wanted, within a minute."""
    until, agreeing = time.monotonic() + 60, 0
    while agreeing < 3 and time.monotonic() < until:
        agreeing = agreeing + 1 if workload.at_work() is wanted else 0
        time.sleep(0.02)
    return agreeing == 3


@pytest.mark.parametrize(("program", "at_work"), [(SPIN, True), (LAUNCH, True), (SLEEP, False)])
def test_a_process_is_at_work_when_it_or_a_child_of_it_runs(program, at_work):
    with running(program) as workload:
        assert seen(workload, at_work if TOLD else None)


def test_nothing_is_told_of_a_process_that_is_gone():
    process = subprocess.Popen([sys.executable, "-I", "-c", ""])
    process.wait()
    assert Workload(process.pid).at_work() is None


def test_busy_processors_leave_none_to_spare():
    programs = [
        subprocess.Popen([sys.executable, "-I", "-c", "while True: pass"])
        for _ in range(2 * (os.cpu_count() or 1))
    ]
    try:
        until = time.monotonic() + 60
        while processor_is_idle() and time.monotonic() < until:
            time.sleep(0.02)
        assert not processor_is_idle()
    finally:
        for program in programs:
            program.kill()
            program.wait()

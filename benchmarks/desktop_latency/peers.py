"""The other programs: xdotool and wmctrl, started for each operation as usual, and xa11y in a worker."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from collections.abc import Mapping
from functools import cache
from typing import Any

from benchmarks.desktop.installing import InstallFailed, environment_of

WORKER = """
import json, sys, time
import xa11y
keyboard = xa11y.input_sim()
def tree(pid): return xa11y.App.by_pid(pid).tree()
def find(pid): return xa11y.App.by_pid(pid).locator("button").count()
def type(text): keyboard.type_text(text)
known = {"tree": tree, "find": find, "type": type}
for line in sys.stdin:
    operation, argument = json.loads(line)
    before = time.process_time()
    known[operation](argument)
    print(time.process_time() - before, flush=True)
"""
PATIENCE = 60.0


def is_installed(name: str) -> bool:
    return xa11y_python() is not None if name == "xa11y" else shutil.which(name) is not None


@cache
def xa11y_python() -> str | None:
    """The Python of its own environment, which is made at first; None if it cannot be installed."""
    try:
        return str(environment_of("xa11y") / "python")
    except InstallFailed:
        return None


async def run_program(environment: Mapping[str, str], *command: str) -> float:
    """Returns its CPU seconds."""
    before = os.times()
    process = await asyncio.create_subprocess_exec(
        *command, env=dict(environment), stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
    )
    async with asyncio.timeout(PATIENCE):
        await process.wait()
    after = os.times()
    return (after.children_user + after.children_system) - (before.children_user + before.children_system)


class Xa11y:
    """A process that does operations one after the other."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._process: asyncio.subprocess.Process | None = None

    async def run(self, operation: str, argument: Any) -> float:
        """Returns its CPU seconds."""
        if self._process is None:
            pipe = asyncio.subprocess.PIPE
            self._process = await asyncio.create_subprocess_exec(
                xa11y_python() or sys.executable,
                "-c",
                WORKER,
                env=dict(self._environment),
                stdin=pipe,
                stdout=pipe,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([operation, argument]).encode() + b"\n")
        async with asyncio.timeout(PATIENCE):
            return float(await self._process.stdout.readline())

    async def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            await self._process.wait()

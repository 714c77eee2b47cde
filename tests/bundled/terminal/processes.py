"""Looks for processes by what stands on their command line."""

from __future__ import annotations

import asyncio
from pathlib import Path

DEADLINE = 60


def carrying(mark: str) -> list[int]:
    """Living processes whose arguments hold the mark."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            arguments = (folder / "cmdline").read_bytes()
            state = (folder / "stat").read_bytes().rpartition(b")")[2].split()[0]
        except OSError:
            continue
        if mark.encode() in arguments and state not in (b"Z", b"X"):
            found.append(int(folder.name))
    return found


async def until(condition: object) -> None:
    """Wait until a function of no arguments is true."""
    assert callable(condition)
    async with asyncio.timeout(DEADLINE):
        while not condition():  # noqa: ASYNC110 - nobody tells us of processes
            await asyncio.sleep(0.02)

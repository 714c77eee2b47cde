"""Where a command's operations run: in the running host of a home, else in this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from toolcrib.config.paths import Paths, find_paths
from toolcrib.control.client import connected
from toolcrib.control.needs import Crib

STARTING_PATIENCE = 2.0
"""Seconds to wait for a host that holds the home and does not listen yet."""
PAUSE = 0.05


@asynccontextmanager
async def reach(home: Path | None = None) -> AsyncIterator[Crib]:
    """The running host of this home where there is one; else what opens one for each operation."""
    paths = find_paths(home)
    async with connected(paths) as crib:
        if crib is not None:
            yield crib
            return
    async with _connected_soon(paths) as crib:
        if crib is not None:
            yield crib
            return
    from toolcrib.control.local import local_crib

    async with local_crib(home, paths) as local:
        yield local


@asynccontextmanager
async def _connected_soon(paths: Paths) -> AsyncIterator[Crib | None]:
    """A host that is just starting; a Python program that holds the home never listens, and is let be."""
    if not _is_noted(paths.lock_file):
        yield None
        return
    from toolcrib.host.lock import running_host

    deadline = asyncio.get_running_loop().time() + STARTING_PATIENCE
    while running_host(paths.lock_file) is not None and asyncio.get_running_loop().time() < deadline:
        async with connected(paths) as crib:
            if crib is not None:
                yield crib
                return
        await asyncio.sleep(PAUSE)
    yield None


def _is_noted(lock_file: Path) -> bool:
    """True when a host noted itself; looking closer touches the lock, which might disturb one that starts."""
    try:
        return lock_file.stat().st_size > 0
    except OSError:
        return False

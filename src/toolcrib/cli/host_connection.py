"""Connects commands to the running host of a home, or to one in this process: how long to wait for a host
that is starting, and the warning about what happened to the database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolcrib.config.paths import Paths, find_paths
from toolcrib.ipc.client import HostConnection, connected
from toolcrib.ipc.wire import MAX_REQUEST
from toolcrib.operations.client import Client

if TYPE_CHECKING:
    from toolcrib.host import Host
    from toolcrib.ipc.server import Emit

START_TIMEOUT = 2.0
"""Seconds to wait for a host that has locked the home but does not listen yet."""
PAUSE = 0.05


@asynccontextmanager
async def reach(home: Path | None = None) -> AsyncIterator[Client]:
    """A client of the running host; without one, of a host that is opened in this process as needed."""
    paths = find_paths(home)
    warned = warn_of_incident(paths)
    try:
        async with reach_running(home) as client:
            if client is not None:
                yield client
                return
        from toolcrib.operations.local import local_runner

        async with local_runner(home, paths) as local:
            yield Client(local)
    finally:
        if not warned:  # the host that was opened here noticed it
            warn_of_incident(paths)


def warn_of_incident(paths: Paths) -> bool:
    """Say on stderr what happened to the database, until the user confirms it."""
    if not paths.database.with_name(f"{paths.database.name}.incident").exists():
        return False
    from toolcrib.cli.output import note
    from toolcrib.store.incidents import unconfirmed

    found = unconfirmed(paths.database)
    if found is not None:
        note(f"warning: {found[0]}\n{found[1]}")
    return found is not None


@asynccontextmanager
async def reach_running(home: Path | None = None) -> AsyncIterator[Client | None]:
    """A client of the running host; None if there is none."""
    paths = find_paths(home)
    async with connected(paths) as host:
        if host is not None:
            yield Client(host)
            return
    async with _connected_soon(paths) as host:
        yield None if host is None else Client(host)


def serve_operations(host: Host, *, max_request: int = MAX_REQUEST) -> AbstractAsyncContextManager[Path]:
    """Let commands reach this host; the operations are imported with the first request."""
    from toolcrib.ipc.server import serve

    async def perform(name: str, params: object, emit: Emit) -> Any:
        from toolcrib.loading import preload

        await preload("toolcrib.operations.registry")
        from toolcrib.operations.operation import Invocation
        from toolcrib.operations.registry import perform

        return await perform(host, name, params, Invocation(emit=emit))

    return serve(host.paths, perform, max_request=max_request)


@asynccontextmanager
async def _connected_soon(paths: Paths) -> AsyncIterator[HostConnection | None]:
    """A connection to a host that is just starting; None for a Python program, which never listens."""
    if not _may_be_locked(paths.lock_file):
        yield None
        return
    from toolcrib.host.lock import running_host

    deadline = asyncio.get_running_loop().time() + START_TIMEOUT
    while running_host(paths.lock_file) is not None and asyncio.get_running_loop().time() < deadline:
        async with connected(paths) as host:
            if host is not None:
                yield host
                return
        await asyncio.sleep(PAUSE)
    yield None


def _may_be_locked(lock_file: Path) -> bool:
    """True if a host wrote the file; testing the lock itself could disturb a host that is starting."""
    try:
        return lock_file.stat().st_size > 0
    except OSError:
        return False

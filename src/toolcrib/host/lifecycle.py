"""Opens and closes a host: first the core, so that servers start early, then the rest. Applies edits of the
config file, and restarts servers whose files changed (skipped folders, most files).

A server restarts when one of its files changes, for developers of servers. Only servers with `watch` in their
entry are watched, and only while they are meant to run. Watching lists the folder once a second; a server
restarts once its files have stopped changing.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

from toolcrib.clock import Clock, SystemClock
from toolcrib.config.paths import Paths, find_paths
from toolcrib.config.watch import changes
from toolcrib.errors import ConfigError, HostRunning
from toolcrib.host.core import build_core
from toolcrib.host.features import opened_with
from toolcrib.host.lock import clear_disk_errors, sole_host
from toolcrib.loading import preload
from toolcrib.schema.servers import ServerEntry, ServerState
from toolcrib.serverkit.own_places import claimed
from toolcrib.servers.processes.child import raise_limit
from toolcrib.servers.sessions.handlers import Handlers
from toolcrib.tasks import in_background

if TYPE_CHECKING:
    from toolcrib.host.host import Host
    from toolcrib.tools.ports import CallGate

INTERVAL = 1.0
MOST_FILES = 5000
"""Further files are ignored: such a folder is not the source of a server."""
_SKIPPED = frozenset({"__pycache__", "node_modules", "venv", "dist", "build"})
_NOT_RESTARTED = frozenset({ServerState.DISABLED, ServerState.NEEDS_TRUST})

FileStates = dict[str, tuple[int, int]]
"""Modification time and size of each file."""

logger = logging.getLogger(__name__)


async def keep_fresh(host: Host) -> None:
    """Watch the servers of a host until cancelled."""
    seen: dict[str, FileStates] = {}
    moving: dict[str, FileStates] = {}
    while True:
        watched = {entry.name: entry for entry in host.config.servers.values() if entry.watch}
        for gone in seen.keys() - watched.keys():
            del seen[gone]
        for name, entry in watched.items():
            now = await asyncio.to_thread(file_states, entry)
            before = seen.setdefault(name, now)
            if now == before:
                continue
            if moving.get(name) != now:
                moving[name] = now  # It may still be being written: check once more.
                continue
            seen[name] = now
            if name in host.servers and host.servers.status(name).state not in _NOT_RESTARTED:
                await host.servers[name].restart("Restarted, because a file that it watches changed.")
        await asyncio.sleep(INTERVAL)


def file_states(entry: ServerEntry) -> FileStates:
    """The watched files of a server; empty if the folder is missing."""
    folder = entry.raw.get("cwd") or entry.raw.get("sourcePath")
    if not isinstance(folder, str) or "${" in folder or not Path(folder).is_absolute():
        return {}
    found: FileStates = {}
    for path, status in _files(Path(folder)):
        relative = os.path.relpath(path, folder)
        if any(fnmatch(relative, pattern) or fnmatch(path.name, pattern) for pattern in entry.watch):
            found[relative] = (status.st_mtime_ns, status.st_size)
    return found


def _files(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    left, count = [folder], 0
    while left:
        try:
            inside = list(os.scandir(left.pop()))
        except OSError:
            continue
        for item in inside:
            count += 1
            if item.name.startswith(".") or item.name in _SKIPPED or count > MOST_FILES:
                continue
            try:
                if item.is_dir(follow_symlinks=False):
                    left.append(Path(item.path))
                else:
                    yield Path(item.path), item.stat()
            except OSError:
                continue


@asynccontextmanager
async def open_host(
    home: Path | str | None = None,
    *,
    exclusive: bool | None = None,
    lazy: bool = False,
    only: Collection[str] | None = None,
    watch: bool = True,
    handlers: Handlers | None = None,
    gate: CallGate | None = None,
    clock: Clock | None = None,
    trust_config: bool = False,
    continue_runs: bool = True,
) -> AsyncIterator[Host]:
    """Open a host on `home` (default: `TOOLCRIB_HOME`, else the platform's folders).

    A running host locks its home. If another host has the lock, `exclusive=True` raises `HostRunning`; by
    default this host runs without the lock, with its own server processes. `lazy` starts a server only when
    one of its tools is called, if its tool list is known. `only` ignores all other servers. `watch` applies
    edits of the config file. `handlers` answer requests of servers, `gate` decides which calls may run.
    `trust_config` trusts every entry of the config file, for programs that write it. `continue_runs` goes on
    with interrupted runs of workflows, if this host has the lock.
    """
    where = find_paths(Path(home) if home else None)
    folder = where.home or where.config_file.parent
    paths = await asyncio.to_thread(where.ensure)
    raise_limit()
    async with AsyncExitStack() as stack:
        stack.enter_context(claimed(paths.own))
        sole = _hold_home(stack, paths, folder, exclusive)
        with clear_disk_errors(folder):
            core = await build_core(
                stack,
                paths,
                lazy=lazy,
                only=only,
                handlers=handlers,
                clock=clock or SystemClock(),
                trust_config=trust_config,
            )
        core.holds_home = sole
        await core.start_first()
        # The rest of the host is imported while the first server starts.
        await preload("toolcrib.host.host")
        from toolcrib.host.host import assemble

        host = await assemble(stack, core, gate)
        await host.apply(host.config)
        if core.database.shared:
            from toolcrib.host.sharing import following_others

            await stack.enter_async_context(following_others(host))
        host.continues_work = sole and continue_runs
        await stack.enter_async_context(opened_with(host))
        if watch:
            await stack.enter_async_context(in_background(_follow(host), "config watch"))
            await stack.enter_async_context(in_background(keep_fresh(host), "folder watch"))
        yield host


def _hold_home(stack: AsyncExitStack, paths: Paths, folder: Path, exclusive: bool | None) -> bool:
    """Lock the home while the stack is open: always, never, or if it is free (None); whether it is locked."""
    if exclusive is False:
        return False
    try:
        stack.enter_context(sole_host(paths.lock_file, folder))
    except HostRunning:
        if exclusive:
            raise
        return False
    return True


async def _follow(host: Host) -> None:
    """Apply edits of the config file; an invalid one is logged and changes nothing."""
    async for digest in changes(host.paths.config_file, since=host.config.digest):
        if digest == host.config.digest and host.config_error is None:
            continue
        try:
            await host.reload()
        except ConfigError as error:
            logger.warning("config not applied", extra={"reason": error.message})

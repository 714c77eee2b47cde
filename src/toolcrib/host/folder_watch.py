"""Restarts a server when one of its files changes, for developers of servers.

Only servers with `watch` in their entry are watched, and only while they are meant to run. Watching lists
the folder once a second; a server restarts once its files have stopped changing.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

from toolcrib.schema.servers import ServerEntry, ServerState

if TYPE_CHECKING:
    from toolcrib.host.host import Host

INTERVAL = 1.0
MOST_FILES = 5000
"""Further files are ignored: such a folder is not the source of a server."""
_SKIPPED = frozenset({"__pycache__", "node_modules", "venv", "dist", "build"})
_NOT_RESTARTED = frozenset({ServerState.DISABLED, ServerState.NEEDS_TRUST})

FileStates = dict[str, tuple[int, int]]
"""Modification time and size of each file."""


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
                await host.servers[name].restart()
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

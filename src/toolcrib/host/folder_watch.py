"""Starts a server again when a file that it is made of changes: for those who are writing one.

Only servers whose entry says `watch` are looked after, and only while they are meant to run. Looking costs a
listing of the folder a second; a server that is being edited is started again once the files are at rest.
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
"""More are not looked at: that is no folder of a server that somebody writes."""
_SKIPPED = frozenset({"__pycache__", "node_modules", "venv", "dist", "build"})
_LET_BE = frozenset({ServerState.DISABLED, ServerState.NEEDS_TRUST})

Look = dict[str, tuple[int, int]]
"""Each file's time of change and size."""


async def keep_fresh(host: Host) -> None:
    """Look after the servers of a host until cancelled."""
    seen: dict[str, Look] = {}
    moving: dict[str, Look] = {}
    while True:
        watched = {entry.name: entry for entry in host.config.servers.values() if entry.watch}
        for gone in seen.keys() - watched.keys():
            del seen[gone]
        for name, entry in watched.items():
            now = await asyncio.to_thread(look, entry)
            before = seen.setdefault(name, now)
            if now == before:
                continue
            if moving.get(name) != now:
                moving[name] = now  # Still being written, perhaps: it is looked at once more.
                continue
            seen[name] = now
            if name in host.servers and host.servers.status(name).state not in _LET_BE:
                await host.servers[name].restart()
        await asyncio.sleep(INTERVAL)


def look(entry: ServerEntry) -> Look:
    """The files that a server watches, as they are now; a folder that is not there has none."""
    folder = entry.raw.get("cwd") or entry.raw.get("sourcePath")
    if not isinstance(folder, str) or "${" in folder or not Path(folder).is_absolute():
        return {}
    found: Look = {}
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
        for one in inside:
            count += 1
            if one.name.startswith(".") or one.name in _SKIPPED or count > MOST_FILES:
                continue
            try:
                if one.is_dir(follow_symlinks=False):
                    left.append(Path(one.path))
                else:
                    yield Path(one.path), one.stat()
            except OSError:
                continue

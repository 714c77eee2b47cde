"""Run as a program: restores a backup again and again on a small disk, with more and more room left."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.features.backup.test_backup import execute, filled_home, state, write
from toolcrib.config.paths import Paths
from toolcrib.errors import ToolcribError
from toolcrib.features.backup import archive
from toolcrib.features.backup.create import create_backup
from toolcrib.features.backup.restore import open_restore

PAGE = 4096


@contextmanager
def filled(disk: Path, room: int) -> Iterator[None]:
    """A disk with only this many bytes left."""
    ballast = disk / "ballast"
    found = os.statvfs(disk)
    with ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, found.f_bavail * found.f_frsize - room)
    try:
        yield
    finally:
        ballast.unlink()


async def attempt(paths: Paths, backup: Path, *, backed_up: bool) -> str:
    try:
        async with open_restore(paths, backup) as restore:
            if backed_up:
                await restore.back_up_present()
            with restore.locked():
                restore.apply(keep_approvals=False)
    except ToolcribError as error:
        return f"{error.message} {error.hint}"
    return ""


def leftovers(home: Path) -> list[str]:
    return sorted(str(file) for mark in (".restore-*", "*.restore-*", "*.part") for file in home.rglob(mark))


async def main(disk: Path, step: int, *, backed_up: bool) -> None:
    archive.RESERVE = -(1 << 60)  # As if the room had gone after it was checked.
    paths = await filled_home(disk / "home", "first")
    await create_backup(paths, disk / "backup.zip")
    execute(paths.database, "UPDATE chats SET title = 'changed'")
    write(paths.workflows / "daily.json", '"changed"')
    before = state(paths)
    for room in range(0, 1 << 30, step):
        with filled(disk, room):
            refused = await attempt(paths, disk / "backup.zip", backed_up=backed_up)
        kept, left = state(paths) == before, leftovers(disk)
        print(json.dumps({"room": room, "refused": refused, "kept": kept, "leftovers": left}), flush=True)
        if not refused:
            break


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]) * PAGE, backed_up="--backed-up" in sys.argv))

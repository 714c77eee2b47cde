"""Run as a program: saves a full home to another disk, and a home to a full disk."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from tests.features.backup.restoring_on_full_disk import filled
from tests.features.backup.test_backup import filled_home
from toolcrib.config.paths import Paths
from toolcrib.errors import ToolcribError
from toolcrib.features.backup.create import create_backup
from toolcrib.store.database import open_database


async def attempt(paths: Paths, target: Path) -> str:
    try:
        await create_backup(paths, target)
    except ToolcribError as error:
        return f"{error.message} {error.hint}"
    return ""


async def opening(paths: Paths) -> str:
    try:
        async with open_database(paths.database):
            return ""
    except ToolcribError as error:
        return f"{error.message} {error.hint}"


async def main(disk: Path, elsewhere: Path) -> None:
    """The small disk has one home, the other disk another."""
    full, roomy = [await filled_home(place / "home", "first") for place in (disk, elsewhere)]
    with filled(disk, 0):
        saved = await attempt(full, elsewhere / "full.zip")
        refused = await attempt(roomy, disk / "roomy.zip")
        opened = await opening(full)
    left = [file.name for file in disk.iterdir()]
    print(json.dumps({"saved": saved, "refused": refused, "opened": opened, "left": left}))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2])))

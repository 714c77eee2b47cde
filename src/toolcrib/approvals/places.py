"""Whether a path lies in a folder, so that a rule can speak of a folder and never of what lies beside it.

An allow is read narrowly: every link is followed first, and what could mean another place to somebody else (a
`..`, a relative path without a known beginning, `/proc/self`) is not inside. A deny or an ask is read widely:
it is enough that the path is written as inside, or leads there. A link that is made after the look is not
seen. Files in the folder that make programs run are not meant by an allow: they are named one by one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from toolcrib.serverkit.confined.protected import protected_part

_OF_EACH_PROCESS = ("/proc", "/dev")
"""What is found there depends on who looks."""
_MOST_LINKS = 40


class Disk(Protocol):
    """What is asked of a disk."""

    def real(self, path: str) -> str | None:
        """The path with all links followed, as far as it exists; None where others may find another one."""

    def is_folder(self, path: str) -> bool:
        """Whether it is one now."""


class ThisDisk:
    """The disk of this machine."""

    def real(self, path: str) -> str | None:
        """As the system would open it; None for what leads through a place of each process for itself."""
        ahead, place, links = path.split("/")[::-1], "", 0
        while ahead:
            part = ahead.pop()
            if part in ("", "."):
                continue
            if part == "..":
                place = place.rpartition("/")[0]
                continue
            step = f"{place}/{part}"
            if step in _OF_EACH_PROCESS:
                return None
            try:
                target = str(Path(step).readlink())
            except OSError:
                place = step
                continue
            links += 1
            if links > _MOST_LINKS:
                return None
            place = "" if target.startswith("/") else place
            ahead += target.split("/")[::-1]
        return place or "/"

    def is_folder(self, path: str) -> bool:
        """Whether it is one now."""
        return Path(path).is_dir()


class OnPaper:
    """No disk: paths are what they are written as. For the examples of a rule, which name no real files."""

    def real(self, path: str) -> str | None:
        """Written without detours."""
        return os.path.normpath(path)

    def is_folder(self, path: str) -> bool:
        """Nobody knows."""
        return False


@dataclass(frozen=True)
class Ground:
    """Where the paths of a call are looked up; relative ones begin at `start`, nowhere when it is empty."""

    disk: Disk
    start: str = ""


ON_PAPER = Ground(OnPaper())


def is_inside(value: Any, folder: str, ground: Ground, *, wide: bool) -> bool:
    """Whether an argument, a path or a list of them, lies in the folder: all of it, or when `wide` any."""
    paths = value if isinstance(value, list | tuple) else [value]
    found = (_inside(path, folder, ground, wide=wide) for path in paths if wide or isinstance(path, str))
    if wide:
        return any(found)
    return bool(paths) and all(isinstance(path, str) for path in paths) and all(found)


def lies_in(path: str, folder: str) -> bool:
    """Part by part, so that `/a/bc` is not in `/a/b`; the folder itself counts. Both are without detours."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def below(path: str, folder: str) -> list[str]:
    """The parts of a path that lies in the folder, from there on."""
    return [part for part in path[len(folder) :].split("/") if part]


def at_home(path: str) -> str:
    """The path with a leading `~` written out."""
    return f"{Path.home()}{path[1:]}" if path == "~" or path.startswith("~/") else path


def place_of(path: str, ground: Ground) -> str | None:
    """Where an allow takes the path to be, links followed; None when that is not sure."""
    if not path or "\0" in path or ".." in path.split("/"):
        return None
    if not path.startswith("/"):
        if not ground.start or path.startswith("~") or path.startswith("file:"):
            return None
        path = f"{ground.start}/{path}"
    return ground.disk.real(path)


def _inside(path: Any, folder: str, ground: Ground, *, wide: bool) -> bool:
    if not isinstance(path, str):
        return False
    if not wide:
        place = place_of(path, ground)
        if place is None or not lies_in(place, folder):
            return False
        return protected_part(below(place, folder)) is None
    return any(lies_in(place, one) for place in _readings(path, ground) for one in _names(folder, ground))


def _readings(path: str, ground: Ground) -> Iterator[str]:
    """What a path may mean to whoever is given it."""
    if "\0" in path:
        return
    meant = at_home(path.removeprefix("file://"))
    if not meant.startswith("/") and ground.start:
        meant = f"{ground.start}/{meant}"
    yield os.path.normpath(meant)
    real = ground.disk.real(meant) if meant.startswith("/") else None
    if real is not None:
        yield real


def _names(folder: str, ground: Ground) -> Sequence[str]:
    return (folder, ground.disk.real(folder) or folder)

"""Decides whether a path is inside a folder, for rules about folders: symbolic and hard links, `..`, `~`, and
patterns with `*`.

Allow rules are read narrowly: links are followed, and ambiguous paths (`..`, relative without a known folder,
`/proc/self`) are not inside. Deny and ask rules are read widely: it is enough that the path as written, or
its target, is inside. Links created after the check are not seen. Protected files in the folder are never
covered by an allow rule.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import translate
from glob import has_magic
from pathlib import Path
from typing import Any, Protocol

from toolcrib.serverkit.confined.protected import protected_part
from toolcrib.serverkit.own_places import is_linked, own_identities

MOST_ENTRIES = 5000
"""Entries of folders that are looked at for one pattern."""
_ESCAPED = re.compile(r"\[([*?[])\]")

_OF_EACH_PROCESS = ("/proc", "/dev")
"""Their content depends on the process."""
_MOST_LINKS = 40


class _TooMany(Exception):
    pass


def matching(pattern: str) -> list[str] | None:
    """The paths that an absolute pattern stands for; None if too many entries would have to be looked at.

    A part without wildcards is taken as it is, whether it exists or not.
    """
    left = [MOST_ENTRIES]
    try:
        return list(_below("", pattern.split("/")[1:], left))
    except _TooMany:
        return None


def _below(folder: str, parts: Sequence[str], left: list[int]) -> Iterator[str]:
    if not parts:
        yield folder or "/"
        return
    for name in _matching(folder, parts[0], left):
        yield from _below(f"{folder}/{name}", parts[1:], left)


def _matching(folder: str, part: str, left: list[int]) -> Iterator[str]:
    plain = _ESCAPED.sub(r"\1", part)
    if not has_magic(_ESCAPED.sub("", part)):
        yield plain
        return
    wanted, hidden = re.compile(translate(part)), part.startswith(".")
    for name in _entries(folder or "/", left):
        if (hidden or not name.startswith(".")) and wanted.match(name):
            yield name


def _entries(folder: str, left: list[int]) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                left[0] -= 1
                if left[0] < 0:
                    raise _TooMany
                yield entry.name
    except OSError:
        return


class Disk(Protocol):
    def real(self, path: str) -> str | None:
        """The path with all links followed, as far as it exists; None if it depends on the process."""

    def is_folder(self, path: str) -> bool: ...

    def matching(self, pattern: str) -> list[str] | None:
        """The paths that a pattern of a shell stands for; None if there are too many to look at."""

    def any_linked(self, paths: Sequence[str], folders: Sequence[Path]) -> bool:
        """Whether one of the paths is a hard link to a file of Toolcrib in these folders."""

    def any_private_link(self, paths: Sequence[str], project: str) -> bool:
        """Whether one of the paths is a hard link to a private file."""

    def has_linked_private(self, folder: str) -> bool:
        """Whether a private file in this folder has further names."""


class LocalDisk:
    def real(self, path: str) -> str | None:
        """As the system would open it; None for paths through `/proc` and `/dev`."""
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
        return Path(path).is_dir()

    def matching(self, pattern: str) -> list[str] | None:

        return matching(pattern)

    def any_linked(self, paths: Sequence[str], folders: Sequence[Path]) -> bool:
        linked = {identity for path in paths if (identity := _linked(path))}
        return bool(linked) and not linked.isdisjoint(own_identities(folders))

    def any_private_link(self, paths: Sequence[str], project: str) -> bool:
        from toolcrib.serverkit.secret_places import any_private_link

        return any_private_link(paths, project)

    def has_linked_private(self, folder: str) -> bool:
        from toolcrib.serverkit.secret_places import has_linked_private

        return has_linked_private(folder)


def _linked(path: str) -> tuple[int, int] | None:
    try:
        status = Path(path).stat()
    except (OSError, ValueError):
        return None
    return (status.st_dev, status.st_ino) if is_linked(status) else None


class NoDisk:
    """No links are followed; for the examples of rules, which name no real files."""

    def real(self, path: str) -> str | None:
        return os.path.normpath(path)

    def is_folder(self, path: str) -> bool:
        return False

    def matching(self, pattern: str) -> list[str] | None:
        return []

    def any_linked(self, paths: Sequence[str], folders: Sequence[Path]) -> bool:
        return False

    def any_private_link(self, paths: Sequence[str], project: str) -> bool:
        return False

    def has_linked_private(self, folder: str) -> bool:
        return False


@dataclass(frozen=True)
class PathContext:
    """How paths of a call are resolved; relative ones start at `start`, if known."""

    disk: Disk
    start: str = ""


NO_DISK = PathContext(NoDisk())


def is_inside(value: Any, folder: str, ground: PathContext, *, wide: bool) -> bool:
    """Whether an argument, a path or a list of them, is inside the folder: all of them, or any if `wide`."""
    paths = value if isinstance(value, list | tuple) else [value]
    found = (_inside(path, folder, ground, wide=wide) for path in paths if wide or isinstance(path, str))
    if wide:
        return any(found)
    return bool(paths) and all(isinstance(path, str) for path in paths) and all(found)


def lies_in(path: str, folder: str) -> bool:
    """Whether a normalised path is the folder or below it; `/a/bc` is not in `/a/b`."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def below(path: str, folder: str) -> list[str]:
    """The parts of a path relative to the folder."""
    return [part for part in path[len(folder) :].split("/") if part]


def at_home(path: str) -> str:
    """Expands a leading `~`."""
    return f"{Path.home()}{path[1:]}" if path == "~" or path.startswith("~/") else path


def place_of(path: str, ground: PathContext) -> str | None:
    """The real path for an allow rule; None if ambiguous."""
    if not path or "\0" in path or ".." in path.split("/"):
        return None
    if not path.startswith("/"):
        if not ground.start or path.startswith("~") or path.startswith("file:"):
            return None
        path = f"{ground.start}/{path}"
    return ground.disk.real(path)


def _inside(path: Any, folder: str, ground: PathContext, *, wide: bool) -> bool:
    if not isinstance(path, str):
        return False
    if not wide:
        place = place_of(path, ground)
        if place is None or not lies_in(place, folder):
            return False
        return protected_part(below(place, folder)) is None
    return any(
        lies_in(place, spelling) for place in _readings(path, ground) for spelling in _names(folder, ground)
    )


def _readings(path: str, ground: PathContext) -> Iterator[str]:
    """The paths that this text may mean."""
    if "\0" in path:
        return
    meant = at_home(path.removeprefix("file://"))
    if not meant.startswith("/") and ground.start:
        meant = f"{ground.start}/{meant}"
    yield os.path.normpath(meant)
    real = ground.disk.real(meant) if meant.startswith("/") else None
    if real is not None:
        yield real


def _names(folder: str, ground: PathContext) -> Sequence[str]:
    return (folder, ground.disk.real(folder) or folder)

"""How much disk space the files of a sandbox take, and how often they are counted; no system limits that for
an ordinary user.

Only the standard library, and little of it: the keeper of commands loads this file by itself.
"""

# ruff: noqa: PTH112, PTH116, PTH208

from __future__ import annotations

import os
import stat
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

BLOCK, SMALLEST = 512, 4096
"""Bytes of a block as the kernel counts, and the least that a file or folder counts for."""
LEAST_OFTEN = 30.0
"""Seconds after which the files are counted in any case."""
SHARE = 0.05
"""The most processor time that counting may take."""


class DiskMeter:
    """Tells when the files in these folders take more than so many bytes.

    They are counted only if the file system has become so much fuller that it is possible. Files that
    were deleted and are still open in one of the processes count too. With `from_now`, what is there at first
    is no reason.
    """

    def __init__(
        self,
        folders: Sequence[str],
        most: int,
        processes: Callable[[], Iterable[int]],
        *,
        from_now: bool = False,
    ) -> None:
        self._folders = folders
        self._most = most
        self._processes = processes
        self._from_now = from_now
        self._used = self._taken = 0
        self._counted = float("-inf")
        self._not_before = 0.0

    def exceeded(self) -> bool:
        """To be called about once a second, or more often."""
        now, taken = time.monotonic(), self._taken_of_systems()
        due = now - self._counted >= LEAST_OFTEN or taken - self._taken >= self._most - self._used
        if due and now >= self._not_before:
            most = float("inf") if self._from_now else self._most
            self._used = used(self._folders, self._processes(), most)
            self._taken, self._counted = taken, now
            self._not_before = now + (time.monotonic() - now) / SHARE
            if self._from_now:
                self._from_now, self._most = False, max(self._most, self._used)
        return self._used > self._most

    def _taken_of_systems(self) -> int:
        """Bytes that are taken on the file systems of the folders, by whatever."""
        found: dict[int, int] = {}
        for folder in self._folders:
            try:
                system = os.statvfs(folder)
                found[os.stat(folder).st_dev] = (system.f_blocks - system.f_bfree) * system.f_frsize
            except OSError:
                continue
        return sum(found.values())


def used(folders: Sequence[str], processes: Iterable[int], most: float) -> int:
    """Bytes that the files take; counting ends above `most`."""
    seen: set[tuple[int, int]] = set()
    total = 0
    for status in _statuses(folders, processes):
        if (status.st_dev, status.st_ino) in seen:
            continue
        if status.st_nlink != 1:
            seen.add((status.st_dev, status.st_ino))
        total += max(status.st_blocks * BLOCK, SMALLEST)
        if total > most:
            break
    return total


def _statuses(folders: Sequence[str], processes: Iterable[int]) -> Iterator[os.stat_result]:
    left = list(folders)
    while left:
        for entry in _scanned(left.pop()):
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            yield status
            if stat.S_ISDIR(status.st_mode):
                left.append(entry.path)
    systems = {os.stat(folder).st_dev for folder in folders if os.path.isdir(folder)}
    for pid in processes:
        yield from (
            status for status in _open_files(pid) if status.st_nlink == 0 and status.st_dev in systems
        )


def _scanned(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _open_files(pid: int) -> Iterator[os.stat_result]:
    try:
        numbers = os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return
    for number in numbers:
        try:
            yield os.stat(f"/proc/{pid}/fd/{number}")
        except OSError:
            continue

"""Tells whether a process is using a processor right now, as far as the system says so."""

from __future__ import annotations

import os
import re
from pathlib import Path

MAX_LOOKED_AT = 16
"""Of a start's processes; a launcher has a handful."""
_PROC = Path("/proc")
_RUNNING = re.compile(rb"^procs_running (\d+)$", re.MULTILINE)
_AT_WORK = (b"R", b"D")


class Workload:
    """A process and its children, looked at now and then."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._ticks: int | None = None

    def at_work(self) -> bool | None:
        """Whether any of them runs, or has run since the last look; None where that cannot be told."""
        ticks, running, found = 0, False, 0
        waiting = [self._pid]
        while waiting and found < MAX_LOOKED_AT:
            pid = waiting.pop()
            seen = _look(pid)
            if seen is None:
                continue
            found += 1
            running = running or seen[0]
            ticks += seen[1]
            waiting += _children(pid)
        if not found:
            return None
        before, self._ticks = self._ticks, ticks
        return running or ticks != before


def processor_to_spare() -> bool:
    """Whether fewer processes than processors are running, besides this one; no where that cannot be told."""
    try:
        found = _RUNNING.search((_PROC / "stat").read_bytes())
    except OSError:
        return False
    return found is not None and int(found[1]) - 1 < len(os.sched_getaffinity(0))


def _look(pid: int) -> tuple[bool, int] | None:
    """Whether its main thread runs, and for how long all its threads have; None when it is gone."""
    try:
        fields = (_PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
        return fields[0] in _AT_WORK, int(fields[11]) + int(fields[12])
    except (OSError, ValueError, IndexError):
        return None


def _children(pid: int) -> list[int]:
    try:
        return [int(child) for child in (_PROC / f"{pid}/task/{pid}/children").read_bytes().split()]
    except (OSError, ValueError):
        return []

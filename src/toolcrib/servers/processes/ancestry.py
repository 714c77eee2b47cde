"""Whether a process comes from a command of a terminal of ours, so that it may not act as the user.

Every command runs below a keeper, which adopts whatever loses its parent: a double fork, a new session or an
emptied environment changes nothing. Known on Linux only; a keeper above ourselves does not count.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

KEEPER = b"/toolcrib/bundled/terminal/keeper.py"
_FARTHEST = 1000


def runs_in_terminal(pid: int) -> bool:
    """Whether this process, or one above it, was started by a terminal; true for one that is gone."""
    if not os.path.exists("/proc/self/stat"):  # noqa: PTH110 - asked for every connection
        return False
    if _parent(pid) is None:
        return True  # a client waits for its answer; this one hides who it was
    ours = set(_line(os.getpid()))
    return any(_is_keeper(each) for each in _line(pid) if each not in ours)


def _line(pid: int) -> Iterator[int]:
    """The process and those above it."""
    for _ in range(_FARTHEST):
        yield pid
        above = _parent(pid)
        if above is not None and above > 0 and _parent(above) is None:
            above = _parent(pid)  # it ended just now, and another one has adopted ours
        if not above:
            return
        pid = above


def _parent(pid: int) -> int | None:
    """None when there is no such process, or none that may be looked at."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123
            return int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return None


def _is_keeper(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:  # noqa: PTH123
            words = file.read().split(b"\0")
    except OSError:
        return False
    return any(word.endswith(KEEPER) for word in words[1:5])

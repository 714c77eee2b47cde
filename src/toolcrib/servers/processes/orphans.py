"""Finds and ends processes that a host left behind, by their groups and the marker in their environment:
SIGTERM, then SIGKILL after a second.

As a program, `orphans.py TOKEN GROUP…` ends these groups and everything that carries the token.

Each server process has a marker in its environment that starts with its host's token, even a daemon that left
its group. The program imports almost nothing: it runs when the machine may be short of resources.
"""

# pathlib, or contextlib and signal together, would double the start time
# ruff: noqa: PTH123, PTH208, SIM105

import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MARKER = "TOOLCRIB_PROCESS"
GRACE = 1.0
KILL_DEADLINE = 3.0
"""Seconds for marked processes to be found and to end; a busy machine may need more than one."""
QUIET_LOOKS = 4
"""In a row, the first of them at all processes, that find nothing."""
ASK, INSIST = 15, 9
"""SIGTERM and SIGKILL, on every system that has process groups."""
KERNEL_THREAD = 0x00200000
"""The kernel's flag for its own threads, which never have variables."""


def group_alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return not sys.platform.startswith("linux") or _has_living(group)


def _has_living(group: int) -> bool:
    """Ignores zombies: in a container without an init process they stay in the group."""
    for name in os.listdir("/proc"):
        fields = stat_of(name) if name.isdigit() else None
        if fields is not None and int(fields[2]) == group and fields[0] not in (b"Z", b"X"):
            return True
    return False


def stat_of(pid: int | str) -> list[bytes] | None:
    """The fields of `/proc/PID/stat` from the state on; None if the process is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()
    except OSError:
        return None


def stats_of_group(group: int) -> "list[list[bytes]]":
    """What `stat_of` says of each process of a group."""
    found = (stat_of(name) for name in os.listdir("/proc") if name.isdigit())
    return [fields for fields in found if fields is not None and int(fields[2]) == group]


def descendants(pid: int) -> "set[int]":
    """The process and all that come from it."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        fields = stat_of(name) if name.isdigit() else None
        if fields is not None:
            children.setdefault(int(fields[1]), []).append(int(name))
    found: set[int] = set()
    left = [pid]
    while left:
        found.add(process := left.pop())
        left += children.get(process, ())
    return found


def signal_group(group: int, number: int) -> None:
    """Signal the group; a missing group is ignored."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        pass


def marked(prefix: str) -> list[int]:
    """The processes whose marker starts with `prefix` (Linux only)."""
    return _scan(prefix, lambda pid: None)[0]


def _scan(prefix: str, act: "Callable[[int], None]", since: int = 0) -> tuple[list[int], bool, int]:
    """The marked processes; whether another was unreadable as it is starting a program; the last id given.

    `act` is called with each at once, the newest first. `since`, such an id of before, skips older ones.
    """
    found: list[int] = []
    if not sys.platform.startswith("linux"):
        return found, False, 0
    wanted, own, unclear = f"{MARKER}={prefix}".encode(), os.getpid(), False
    before = _last_id()
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    last = _last_id()
    # Ids are given in a circle: those up to the last one given are newer than those above it.
    for pid in sorted(pids, key=lambda pid: (pid > last, -pid)):
        if since and not (since < pid <= last if since <= last else pid > since or pid <= last):
            continue
        environment = b"\0" if pid == own else _environment(pid)
        if environment == b"":
            unclear = unclear or _in_transit(pid)
        elif any(variable.startswith(wanted) for variable in environment.split(b"\0")):
            act(pid)
            found.append(pid)
    return found, unclear, before


def _last_id() -> int:
    """The id that the kernel gave last; 0 if a container hides it: each look is then at all processes."""
    try:
        with open("/proc/loadavg") as file:
            return int(file.read().rpartition(" ")[2])
    except (OSError, ValueError):
        return 0


def _environment(pid: int) -> bytes:
    """The variables of a process; a single zero byte if not readable."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read()
    except OSError:
        return b"\0"


def _in_transit(pid: int) -> bool:
    """Whether the variables read as empty because the process is starting a program or exiting.

    While the kernel writes the variables, their block is empty, as it is in a process without any; only
    afterwards it sets the end of the code.
    """
    fields = stat_of(pid)
    if fields is None or fields[0] in (b"Z", b"X") or int(fields[6]) & KERNEL_THREAD:
        return False
    code_end, (begin, finish) = fields[24], fields[47:49]
    return code_end == b"0" or begin != finish


def kill_marked(prefix: str) -> int:
    """Kill marked processes until none is left; returns how many.

    One that forks again and again may end between the list of processes and the look at it, while its child
    is not in that list: none is left once several looks at what came since found nothing.
    """
    ended: set[int] = set()
    until = time.monotonic() + KILL_DEADLINE
    seen = quiet = 0
    while quiet < QUIET_LOOKS and time.monotonic() < until:
        found, unclear, last = _scan(prefix, _kill, seen)
        ended.update(found)
        if found or unclear:
            seen, quiet = last, 0
        elif seen and not quiet:
            seen = 0  # nothing new: look at all once more
        else:
            seen, quiet = last, quiet + 1
        time.sleep(0.002 if quiet else 0.01)
    return len(ended)


def _kill(pid: int) -> None:
    try:
        os.kill(pid, INSIST)
    except (ProcessLookupError, PermissionError):
        pass


def start_time(pid: int) -> int | None:
    """The kernel's start time of a process: tells a reused pid apart."""
    fields = stat_of(pid)
    return int(fields[19]) if fields is not None else None


def end(token: str, groups: list[int]) -> None:
    """End a host's processes: SIGTERM, then SIGKILL."""
    for group in groups:
        signal_group(group, ASK)
    until = time.monotonic() + GRACE
    while any(group_alive(group) for group in groups) and time.monotonic() < until:
        time.sleep(0.02)
    for group in groups:
        signal_group(group, INSIST)
    kill_marked(token)


if __name__ == "__main__":
    end(sys.argv[1], [int(group) for group in sys.argv[2:]])

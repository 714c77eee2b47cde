"""Finds and ends what a host left behind; as a program, `orphans.py TOKEN GROUP…` ends these groups and then
everything that carries the token.

Each server carries a marker in its environment that begins with its host's token: even a daemon that left its
group has it. The program imports next to nothing: it runs when the machine may be in trouble.
"""

# pathlib, or contextlib and signal together, would double the start time
# ruff: noqa: PTH123, PTH208, SIM105

import os
import sys
import time

MARKER = "TOOLCRIB_PROCESS"
GRACE = 1.0
ASK, INSIST = 15, 9
"""SIGTERM and SIGKILL, on every system that has process groups."""
KERNEL_THREAD = 0x00200000
"""The kernel's flag for its own threads, which never have variables."""


def group_alive(group: int) -> bool:
    """True while any process of the group lives."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return not sys.platform.startswith("linux") or _has_living(group)


def _has_living(group: int) -> bool:
    """A dead process that nobody buries, as in a container without an init, still counts for the kernel."""
    for name in os.listdir("/proc"):
        fields = stat_of(name) if name.isdigit() else None
        if fields is not None and int(fields[2]) == group and fields[0] not in (b"Z", b"X"):
            return True
    return False


def stat_of(pid: int | str) -> list[bytes] | None:
    """What the kernel says of a process, from its state on; None when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()
    except OSError:
        return None


def signal_group(group: int, number: int) -> None:
    """Signal every process of the group; one that is gone is fine."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        pass


def marked(prefix: str) -> list[int]:
    """The processes whose marker begins so (Linux; elsewhere there is only the group)."""
    return _scan(prefix)[0]


def _scan(prefix: str) -> tuple[list[int], bool]:
    """The marked processes, and whether another one could not be read because it is between two programs."""
    found: list[int] = []
    if not sys.platform.startswith("linux"):
        return found, False
    wanted, own, unclear = f"{MARKER}={prefix}".encode(), str(os.getpid()), False
    for name in os.listdir("/proc"):
        if not name.isdigit() or name == own:
            continue
        environment = _environment(name)
        if environment == b"":
            unclear = unclear or _in_transit(name)
        elif any(variable.startswith(wanted) for variable in environment.split(b"\0")):
            found.append(int(name))
    return found, unclear


def _environment(pid: str) -> bytes:
    """The variables of a process; a single zero byte if they may not be read."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read()
    except OSError:
        return b"\0"


def _in_transit(pid: str) -> bool:
    """True for a process whose variables read as empty because it was starting a program, or is exiting.

    One that has none has an empty block of them, at an address.
    """
    fields = stat_of(pid)
    if fields is None or fields[0] in (b"Z", b"X") or int(fields[6]) & KERNEL_THREAD:
        return False
    begin, finish = fields[47:49]
    return begin == b"0" or begin != finish


def kill_marked(prefix: str) -> int:
    """Kill what still carries the marker, until none is left: one may have forked meanwhile.

    Returns how many there were.
    """
    ended: set[int] = set()
    until = time.monotonic() + GRACE
    while any(scanned := _scan(prefix)) and time.monotonic() < until:
        for pid in scanned[0]:
            try:
                os.kill(pid, INSIST)
            except (ProcessLookupError, PermissionError):
                pass
        ended.update(scanned[0])
        time.sleep(0.01)
    return len(ended)


def start_time(pid: int) -> int | None:
    """When a process began, in the kernel's own count: tells a recycled pid from the one we knew."""
    fields = stat_of(pid)
    return int(fields[19]) if fields is not None else None


def end(token: str, groups: list[int]) -> None:
    """End what a host had: first it is asked, then it is killed."""
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

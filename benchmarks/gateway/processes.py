"""What a gateway's processes have used, without the servers behind them; from /proc, so on Linux alone."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from benchmarks.gateway.contract import BACKING

_TICK = os.sysconf("SC_CLK_TCK")
_PARENT, _USER, _SYSTEM, _STARTED = 1, 11, 12, 19
"""Places in /proc/PID/stat after the name, which may hold blanks."""


@dataclass(frozen=True)
class Usage:
    """CPU seconds so far, and megabytes of memory now."""

    cpu: float
    memory: float
    """What its processes hold; files that several of them map, such as libraries, are counted once."""
    resident: float
    """The sum of what each of them has in memory, shared or not."""


def usage(roots: list[int]) -> Usage:
    """Of the processes that descend from these, and of these, but not of the servers behind them."""
    cpu = own = 0.0
    mapped = [0.0]
    for pid in tree(roots):
        if not is_backing(pid) and (fields := _fields(pid)):
            cpu += (int(fields[_USER]) + int(fields[_SYSTEM])) / _TICK
            sizes = _sizes(pid)
            own += sizes.get("RssAnon", 0.0) + sizes.get("RssShmem", 0.0)
            mapped.append(sizes.get("RssFile", 0.0))
    return Usage(cpu, own + max(mapped), own + sum(mapped))


def _sizes(pid: int) -> dict[str, float]:
    """The sizes in /proc/PID/status, in megabytes."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return {}
    pairs = (line.split(":", 1) for line in lines if line.endswith(" kB"))
    return {name: int(value.split()[0]) * 1024 / 1e6 for name, value in pairs}


def tree(roots: list[int]) -> list[int]:
    """These processes and all that descend from them, parents first."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (fields := _fields(int(entry.name))):
            children.setdefault(int(fields[_PARENT]), []).append(int(entry.name))
    found = list(roots)
    for pid in found:
        found += children.get(pid, ())
    return found


def started_at(pid: int) -> str:
    """When a process was started, in the system's own count: with its number, its identity."""
    fields = _fields(pid)
    return fields[_STARTED] if fields else ""


def is_backing(pid: int) -> bool:
    """True for a server behind a gateway; a shell that started one counts as the gateway's."""
    try:
        return BACKING.encode() in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False


def _fields(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []

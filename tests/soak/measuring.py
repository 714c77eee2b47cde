"""What a process uses, as the kernel tells it."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

DEADLINE = 30.0
POOL = min(32, (os.cpu_count() or 1) + 4)
"""Threads that the loop may start for blocking work, whenever it needs one more; they stay."""


@dataclass(frozen=True)
class Usage:
    """Of the gateway's process, at one moment."""

    kilobytes: int
    descriptors: int
    threads: int
    tasks: int
    processes: int
    """Those it started, and those they started."""

    def calmer_than(self, other: Usage) -> bool:
        """No more descriptors, tasks and processes, nor threads than a pool may have."""
        ours = (self.descriptors, self.tasks, self.threads - POOL, self.processes)
        theirs = (other.descriptors, other.tasks, other.threads, other.processes)
        return all(mine <= yours for mine, yours in zip(ours, theirs, strict=True))


def usage(pid: int, probe: Path) -> Usage:
    """Ask the process and the kernel."""
    tasks = _tasks(pid, probe)  # collects garbage, so it comes first
    status = dict(
        line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":" in line
    )
    return Usage(
        kilobytes=int(status["VmRSS"].split()[0]),
        descriptors=len(list(Path(f"/proc/{pid}/fd").iterdir())),
        threads=int(status["Threads"]),
        tasks=tasks,
        processes=len(descendants(pid)),
    )


def _tasks(pid: int, probe: Path) -> int:
    probe.unlink(missing_ok=True)
    os.kill(pid, signal.SIGUSR2)
    deadline = time.monotonic() + DEADLINE
    while not probe.exists():
        assert time.monotonic() < deadline, "the gateway does not answer its probe"
        time.sleep(0.01)
    return int(probe.read_text())


def descendants(pid: int) -> list[int]:
    """The processes below one, itself excluded."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError):
            continue
        children.setdefault(parent, []).append(int(stat.parent.name))
    found, left = [], [pid]
    while left:
        below = children.get(left.pop(), [])
        found += below
        left += below
    return found


def runs(pid: int, word: str) -> bool:
    """True when the process is there and its command line has this word."""
    try:
        return word.encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def all_running(word: str) -> list[int]:
    """Every process whose command line has this word, our own excluded."""
    pids = [int(entry.name) for entry in Path("/proc").glob("[0-9]*")]
    return [pid for pid in pids if pid != os.getpid() and runs(pid, word)]

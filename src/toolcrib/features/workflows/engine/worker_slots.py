"""Names of workers: no two processes ever have the same one, and a restarted worker knows its former names.

A home has numbered slots, each a file that the operating system locks for one process. The slot has a random
name; each process that takes it adds the next number. So a run's worker id says exactly which process had it,
and the process that holds the lock knows that the earlier processes of the slot have ended.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import socket
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from toolcrib.errors import ConfigError

MOST_SLOTS = 256


@dataclass(frozen=True)
class Slot:
    """The name of this process."""

    name: str
    generation: int

    @property
    def worker(self) -> str:
        return f"{self.name}.{self.generation}"

    def is_earlier(self, worker: str) -> bool:
        """Whether this was an earlier process of the same slot."""
        name, _, generation = worker.rpartition(".")
        return name == self.name and generation.isdigit() and int(generation) < self.generation


@contextmanager
def take_slot(folder: Path) -> Iterator[Slot]:
    """The first free slot of the folder, locked until the end of the block."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = _lock_any(folder)
    try:
        yield _next_generation(descriptor)
    finally:
        os.close(descriptor)


def _lock_any(folder: Path) -> int:
    for number in range(1, MOST_SLOTS + 1):
        descriptor = os.open(folder / f"worker-{number}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
        else:
            return descriptor
    raise ConfigError(
        f"{MOST_SLOTS} workers already use {folder}.", hint="Stop some, or start this one with another home."
    )


def _next_generation(descriptor: int) -> Slot:
    """Written before it is used: a process that is killed later leaves its number behind."""
    slot = _read(descriptor)
    slot = Slot(slot.name, slot.generation + 1)
    text = json.dumps({"name": slot.name, "generation": slot.generation}).encode()
    os.pwrite(descriptor, text, 0)
    os.ftruncate(descriptor, len(text))
    os.fsync(descriptor)
    return slot


def _read(descriptor: int) -> Slot:
    try:
        stored = json.loads(os.pread(descriptor, 4096, 0))
        return Slot(str(stored["name"]), int(stored["generation"]))
    except (ValueError, KeyError, TypeError):
        # New, or cut by a crash while it was written: another name cannot collide with the old one.
        host = re.sub(r"[^a-z0-9-]", "-", socket.gethostname().lower())[:40]
        return Slot(f"{host}-{uuid.uuid4().hex[:12]}", 0)

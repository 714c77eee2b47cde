"""One process at a time: a lock on a file beside the one that is to be changed.

Whoever waits is woken by the system when its turn comes, so that a busy process starves nobody. The lock ends
with its process. Its file is never removed: that would let two processes hold two different files of one
name.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from toolcrib.errors import ConfigError

PATIENCE = 10.0
"""Seconds; a change takes milliseconds, so whoever holds the lock longer is stuck."""


@contextmanager
def exclusive(path: Path, patience: float = PATIENCE) -> Iterator[None]:
    """Hold the lock of `path` inside the block; blocks this thread for at most `patience` seconds."""
    descriptor = _open(path)
    if not _taken_at_once(descriptor) and not _Turn(descriptor).came(patience):
        raise ConfigError(
            f"{path} is being changed by another process, and has been for {patience:g} seconds.",
            hint="Find the command that still runs and end it, then try again.",
        )
    try:
        yield
    finally:
        os.close(descriptor)


def _open(path: Path) -> int:
    lock = path.with_name(f".{path.name}.lock")
    try:
        return os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be changed: {error.strerror} ({lock.name}).",
            hint="Check the permissions of its folder and the room on the disk.",
        ) from error


def _taken_at_once(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


class _Turn:
    """Waiting for a lock in a thread, which closes the descriptor itself should nobody want it any more.

    A blocked `flock` knows no deadline, and closing its descriptor from here could hit a file opened since.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._settling = threading.Lock()
        self._came = threading.Event()
        self._given_up = False

    def came(self, patience: float) -> bool:
        threading.Thread(target=self._wait, name="toolcrib-lock", daemon=True).start()
        if self._came.wait(patience):
            return True
        with self._settling:
            self._given_up = not self._came.is_set()
        return not self._given_up

    def _wait(self) -> None:
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        with self._settling:
            if self._given_up:
                os.close(self._descriptor)
            self._came.set()

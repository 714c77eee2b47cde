"""One process at a time: a lock on a file beside the one that is to be changed.

The lock file is never removed: removing it would let two processes hold two different files of one name.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from toolcrib.errors import ConfigError

PATIENCE = 10.0
"""Seconds; an edit takes milliseconds, so whoever holds the lock longer is stuck."""
PAUSE = 0.01

if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


@contextmanager
def exclusive(path: Path, patience: float = PATIENCE) -> Iterator[None]:
    """Hold the lock of `path` inside the block; waits at most `patience` seconds, in this thread."""
    lock = path.with_name(f".{path.name}.lock")
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be changed: {error.strerror} ({lock.name}).",
            hint="Check the permissions of its folder and the room on the disk.",
        ) from error
    try:
        _wait(descriptor, path, patience)
        yield
    finally:
        os.close(descriptor)


def _wait(descriptor: int, path: Path, patience: float) -> None:
    deadline = time.monotonic() + patience
    while not _try_lock(descriptor):
        if time.monotonic() >= deadline:
            raise ConfigError(
                f"{path} is being changed by another process, and has been for {patience:g} seconds.",
                hint="Find the command that still runs and end it, then try again.",
            )
        time.sleep(PAUSE)

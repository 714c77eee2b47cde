"""Safe changes of files: replaced as a whole, also in a crash, and by one process at a time. Decides how long
to wait for the lock of another process.

New content is on the disk before the name points to it; if anything fails, the old file is unchanged. The
lock ends with its process. Its file is never removed: two processes could then hold two files of one name.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from toolcrib.errors import ConfigError


def write_atomic(path: Path, content: bytes) -> None:
    """Write `content` to `path`, for this user alone (0600), whatever the umask; raises `OSError`."""
    temporary = path.with_name(f".{path.name}.{uuid4().hex[:12]}.tmp")
    try:
        _write_through(temporary, content)
        temporary.replace(path)
    except BaseException:
        with suppress(FileNotFoundError):
            temporary.unlink()
        raise
    synchronise_folder(path.parent)


def _write_through(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor, not a path
        file.write(content)
        file.flush()
        os.fsync(descriptor)


def synchronise_folder(folder: Path) -> None:
    """Make the renaming itself durable; it is done by now, so a file system that cannot is no failure."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


PATIENCE = 10.0
"""Seconds; a change takes milliseconds, so a process that holds the lock longer is stuck."""


@contextmanager
def exclusive(path: Path, patience: float = PATIENCE) -> Iterator[None]:
    """Hold the lock of `path` inside the block; blocks this thread for at most `patience` seconds."""
    descriptor = _open(path)
    if not _taken_at_once(descriptor) and not _Turn(descriptor).came(patience):
        raise ConfigError(
            f"{path} has been locked by another process for {patience:g} seconds.",
            hint="Find the command that is still running, stop it and try again.",
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
            hint="Check the folder's permissions and the free disk space.",
        ) from error


def _taken_at_once(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


class _Turn:
    """Waits for a lock in a thread, which closes the descriptor itself after a timeout.

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

"""One host per home: a file lock, which the operating system releases however the host ends."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from toolcrib.errors import ConfigError, HostRunning

_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO)
PAUSE = 0.01
ATTEMPTS = 1000
"""Ten seconds: a process that only checks the lock releases it at once, but may be slow on a busy machine."""


@contextmanager
def sole_host(file: Path, home: Path) -> Iterator[None]:
    """Lock the home while the block runs; raises `HostRunning` with the process that has the lock."""
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise unwritable(home, error) from error
    try:
        if not _locked(descriptor):
            raise _taken(descriptor, home)
        _write_note(descriptor, home)
        yield
        os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def _write_note(descriptor: int, home: Path) -> None:
    since = datetime.now(UTC).isoformat(timespec="seconds")
    note = json.dumps({"pid": os.getpid(), "since": since}).encode()
    try:
        os.pwrite(descriptor, note, 0)
        os.ftruncate(descriptor, len(note))
    except OSError as error:
        raise unwritable(home, error) from error


@contextmanager
def clear_disk_errors(home: Path) -> Iterator[None]:
    """Turn errors of a full or read-only disk into a `ConfigError` with a hint."""
    try:
        yield
    except OSError as error:
        if error.errno not in _DISK_ERRORS:
            raise
        raise unwritable(home, error) from error


def unwritable(home: Path, error: OSError) -> ConfigError:
    """The error for a home that cannot be written."""
    from toolcrib.schema.system_failures import hint_for

    return ConfigError(f"{home} cannot be written to: {error.strerror}.", hint=hint_for(error))


def _locked(descriptor: int) -> bool:
    """Take the lock, unless a host has it. A process that only checks holds it briefly, and is waited for."""
    for _ in range(ATTEMPTS):
        if _try_lock(descriptor, fcntl.LOCK_EX):
            return True
        if not _try_lock(descriptor, fcntl.LOCK_SH):
            return False
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        time.sleep(PAUSE)
    return False


def _try_lock(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def running_host(file: Path) -> dict[str, Any] | None:
    """The process that has the lock (`pid`, `since`), or None."""
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return None if _try_lock(descriptor, fcntl.LOCK_SH) else _note(descriptor)
    finally:
        os.close(descriptor)


def _taken(descriptor: int, home: Path) -> HostRunning:
    note = _note(descriptor)
    return HostRunning(
        f"A host already runs on {home} (process {note.get('pid', '?')}, since {note.get('since', '?')}).",
        hint="Commands use it automatically. Stop it first, or set TOOLCRIB_HOME to another folder.",
    )


def _note(descriptor: int) -> dict[str, Any]:
    try:
        note = json.loads(os.pread(descriptor, 4096, 0))
    except ValueError:
        return {}
    return note if isinstance(note, dict) else {}

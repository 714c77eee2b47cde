"""What the operating system or SQLite refused, as errors with a hint: full disk, missing permissions, too
many open files, locked or damaged database. They are no bugs of this program.
"""

from __future__ import annotations

import errno
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from toolcrib.errors import DatabaseRefused, DatabaseUnavailable, SystemFailure, ToolcribError

if TYPE_CHECKING:
    import sqlite3

_ELSEWHERE = "or set TOOLCRIB_HOME to a folder on another disk."
_PERMISSIONS = "Check the permissions of that file or folder, or set TOOLCRIB_HOME to another one."
_FILES = "Too many files are open: close unused programs, or raise the limit (`ulimit -n`)."
_MEMORY = "Close unused programs, or raise the limits of memory and processes (`ulimit -v`, `ulimit -u`)."
_HINTS = {
    errno.ENOSPC: f"The disk is full: free some space, {_ELSEWHERE}",
    errno.EDQUOT: f"Your quota is used up: free some space, {_ELSEWHERE}",
    errno.EFBIG: "The limit on the size of files is reached: raise it (`ulimit -f`).",
    errno.EROFS: "The disk is read-only: set TOOLCRIB_HOME to a folder that can be written to.",
    errno.EACCES: _PERMISSIONS,
    errno.EPERM: _PERMISSIONS,
    errno.EMFILE: _FILES,
    errno.ENFILE: _FILES,
    errno.ENOMEM: _MEMORY,
    errno.EAGAIN: _MEMORY,
    errno.EIO: "The disk may be damaged or disconnected: check the system's log.",
    errno.ESTALE: "The network disk was disconnected: mount it again.",
    errno.ENOENT: "It was moved or deleted in the meantime: put it back, or run the command again.",
    errno.ENOTDIR: "A file is where a folder is needed: move it elsewhere.",
    errno.EISDIR: "A folder is where a file is needed: move it elsewhere.",
    errno.ENAMETOOLONG: "Use a shorter name or folder.",
}
_OTHER = "Run the command again with --debug to see where it happened."
DAMAGED = (
    "Stop the host, copy the file and those beside it to a safe place, then restore a backup with: "
    "toolcrib restore FILE. Copies made before updates are in the folder backups beside it."
)
_LOCKED = "Wait until the other process has finished, or end it. It may be a backup or another program."
_NO_HOME = "Set HOME to your home folder, or TOOLCRIB_HOME to a folder for Toolcrib."
_NO_DATABASE = "Check that the folder of the database exists and can be written to."


ROOM = 16 * 1024 * 1024
"""Bytes that a host should have for its records, and for what SQLite keeps beside the database."""
_LEAST_ROOM = 64 * 1024
"""Bytes that SQLite needs to open a database."""


def full_disk(path: Path) -> str:
    """Which disk is full, and how much is free on it."""
    place = next((folder for folder in (path, *path.parents) if folder.is_dir()), path)
    free = shutil.disk_usage(place).free if place.is_dir() else 0
    return f"The disk of {place} has {free / 1e6:,.1f} MB left."


def hint_for(error: OSError) -> str:
    """What to do about an error of the operating system."""
    return _HINTS.get(error.errno or 0, _OTHER)


def explained(error: BaseException) -> ToolcribError | None:
    """The error that says what to do; None if it is not one of the system or the database."""
    if isinstance(error, ToolcribError):
        return error
    if isinstance(error, OSError):
        return SystemFailure(_message(error), hint=hint_for(error))
    if isinstance(error, MemoryError) or "can't start new thread" in str(error):
        return SystemFailure("The system is out of memory or processes.", hint=_MEMORY)
    if isinstance(error, RuntimeError) and "home directory" in str(error):
        return SystemFailure("The home folder of this user is unknown.", hint=_NO_HOME)
    database = sys.modules.get("sqlite3")
    return _of_database(error) if database and isinstance(error, database.Error) else None


def _message(error: OSError) -> str:
    what = error.strerror or str(error) or type(error).__name__
    return f"{what}: {error.filename}." if error.filename is not None else f"{what}."


def _of_database(error: sqlite3.Error) -> ToolcribError | None:
    found = database_failure(error)
    if found is None:
        return None
    message, hint, lasts = found
    return (DatabaseRefused if lasts else DatabaseUnavailable)(message, hint=hint)


def database_failure(error: sqlite3.Error, file: Path | None = None) -> tuple[str, str, bool] | None:
    """What SQLite could not do, what to do about it, and whether it lasts; None for an error of ours.

    No hint suggests to remove the file: most of these errors pass, and its content is the user's.
    """
    import sqlite3

    name = "The database" if file is None else f"The database {file}"
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN) and file is not None and _is_full(file):
        code = sqlite3.SQLITE_FULL  # SQLite needs some room beside the file even to read it
    if code == sqlite3.SQLITE_FULL:
        room = f"{full_disk(file)} " if file is not None else ""
        free = f"Free at least {ROOM >> 20} MB; nothing was lost. To save the data: toolcrib backup FILE"
        return f"{name} cannot be used: its disk is full.", f"{room}{free} (on another disk).", False
    found = {
        sqlite3.SQLITE_IOERR: ("its disk reported an error", _HINTS[errno.EIO], False),
        sqlite3.SQLITE_CANTOPEN: ("it cannot be opened", _NO_DATABASE, False),
        sqlite3.SQLITE_BUSY: ("it is locked by another process", _LOCKED, False),
        sqlite3.SQLITE_LOCKED: ("it is locked by another process", _LOCKED, False),
        sqlite3.SQLITE_READONLY: ("it cannot be written to", _PERMISSIONS, True),
        sqlite3.SQLITE_PERM: ("it cannot be written to", _PERMISSIONS, True),
        sqlite3.SQLITE_CORRUPT: ("it is damaged", DAMAGED, True),
        sqlite3.SQLITE_NOTADB: ("the file is not a database", DAMAGED, True),
    }.get(code)
    if found is None:
        return None
    what, hint, lasts = found
    return f"{name} cannot be used: {what} ({error}).", hint, lasts


def _is_full(file: Path) -> bool:
    try:
        return shutil.disk_usage(file.parent).free < _LEAST_ROOM
    except OSError:
        return False

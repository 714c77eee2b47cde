"""What the operating system or SQLite refused, as errors with a hint: they are no bugs of this program."""

from __future__ import annotations

import errno
import sys
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
_DAMAGED = "The file is damaged: restore it from a copy, or move it away and a new one is created."
_LOCKED = "Wait until the other process has finished, or end it. It may be a backup or another program."
_NO_HOME = "Set HOME to your home folder, or TOOLCRIB_HOME to a folder for Toolcrib."
_NO_DATABASE = "Check that the folder of the database exists and can be written to."


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
    import sqlite3

    hints = {
        sqlite3.SQLITE_FULL: _HINTS[errno.ENOSPC],
        sqlite3.SQLITE_IOERR: f"{_HINTS[errno.EIO]} Check that it has free space, too.",
        sqlite3.SQLITE_CANTOPEN: _NO_DATABASE,
        sqlite3.SQLITE_BUSY: _LOCKED,
        sqlite3.SQLITE_LOCKED: _LOCKED,
        sqlite3.SQLITE_READONLY: _PERMISSIONS,
        sqlite3.SQLITE_PERM: _PERMISSIONS,
        sqlite3.SQLITE_CORRUPT: _DAMAGED,
        sqlite3.SQLITE_NOTADB: _DAMAGED,
    }
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code not in hints:
        return None
    lasting = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
    kind = DatabaseRefused if code in lasting else DatabaseUnavailable
    return kind(f"The database cannot be used: {error}.", hint=hints[code])

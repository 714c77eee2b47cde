"""Reports that the database file was deleted or replaced: written down beside it until the user confirms it,
with the latest copy and the command to restore it.

The file has an id, which is kept beside it too: so a database that was deleted or replaced while no host ran
is noticed by the next one.
"""

from __future__ import annotations

import contextlib
import secrets
import shlex
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

LONGEST = 1000
_MOST_IDS = 20
_COPIES = "backups"


def incident_file(database: Path) -> Path:
    """Where incidents are written down; the user deletes it."""
    return database.with_name(f"{database.name}.incident")


def write_down(database: Path, incident: str) -> None:
    line = f"{datetime.now(UTC).isoformat(timespec='seconds')} {incident}\n"
    with contextlib.suppress(OSError), incident_file(database).open("a", encoding="utf-8") as notes:
        notes.write(line)


def unconfirmed(database: Path) -> tuple[str, str] | None:
    """The last incident, and what to do about it."""
    try:
        notes = incident_file(database).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    return (notes[-1][:LONGEST], _advice(database)) if notes else None


def forget(database: Path) -> None:
    """The database was replaced on purpose."""
    for file in (incident_file(database), _id_file(database)):
        file.unlink(missing_ok=True)


def identify(connection: sqlite3.Connection, database: Path, *, fresh: bool = False) -> bool:
    """Note the id of an open database, and give it one if it has none; False if it was never in this place.

    One that was here before may come back, from a copy: that settles what happened to it.
    """
    ids = _ids(database)
    own = _id(connection, 0 if fresh or not ids else ids[-1])
    if own and ids[-1:] != [own]:
        with contextlib.suppress(OSError):
            kept = [known for known in ids if known != own][-_MOST_IDS:]
            _id_file(database).touch(0o600)
            _id_file(database).write_text(" ".join(map(str, (*kept, own))))
            if own in ids:
                incident_file(database).unlink(missing_ok=True)
    return fresh or not own or not ids or own in ids


def _id(connection: sqlite3.Connection, given: int) -> int:
    """The id of the database; 0 if it has none and cannot be given one now."""
    try:
        connection.execute("BEGIN IMMEDIATE")
        (found,) = connection.execute("PRAGMA application_id").fetchone()
        if not found:
            found = given or secrets.randbelow(2**31 - 1) + 1
            connection.execute(f"PRAGMA application_id = {found}")
        connection.execute("COMMIT")
    except sqlite3.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        return 0
    return int(found)


def was_used(database: Path) -> bool:
    """Whether there was a database in this place, as the files beside it show."""
    return bool(_ids(database)) or any((database.parent / _COPIES).glob(f"{database.stem}-v*"))


def _ids(database: Path) -> list[int]:
    """Of the databases that were opened in this place, the last one last."""
    try:
        return [int(known) for known in _id_file(database).read_text().split()]
    except (OSError, ValueError):
        return []


def _id_file(database: Path) -> Path:
    return database.with_name(f"{database.name}.id")


def _advice(database: Path) -> str:
    confirm = (
        f"To keep the database as it is now, and to stop this message: rm {_quoted(incident_file(database))}"
    )
    copies = [
        file for file in (database.parent / _COPIES).glob("*") if file.suffix in (database.suffix, ".zip")
    ]
    newest = max(copies, key=lambda file: file.stat().st_mtime, default=None)
    if newest is None:
        return f"If you have a backup, restore it with: toolcrib restore FILE. {confirm}"
    of = datetime.fromtimestamp(newest.stat().st_mtime, UTC).strftime("%Y-%m-%d %H:%M UTC")
    restore = f"toolcrib restore {_quoted(newest)}"
    if newest.suffix == database.suffix:
        log = database.with_name(f"{database.name}-")
        clean = f"rm -f {_quoted(log)}wal {_quoted(log)}shm"  # those of the database in use
        restore = f"{clean} && cp {_quoted(newest)} {_quoted(database)} (with no host running)"
    return f"The last copy here is of {of}; to restore it: {restore}. {confirm}"


def _quoted(file: Path) -> str:
    return shlex.quote(str(file))

"""Each error of SQLite has its own message, and no hint suggests what would lose the data."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from toolcrib.schema.system_failures import database_failure

CODES = {
    sqlite3.SQLITE_FULL: "its disk is full",
    sqlite3.SQLITE_IOERR: "its disk reported an error",
    sqlite3.SQLITE_IOERR_SHMSIZE: "its disk reported an error",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened",
    sqlite3.SQLITE_BUSY: "locked by another process",
    sqlite3.SQLITE_READONLY: "cannot be written to",
    sqlite3.SQLITE_CORRUPT: "is damaged",
    sqlite3.SQLITE_NOTADB: "is not a database",
}


@pytest.mark.parametrize("code", CODES)
def test_each_error_has_its_own_message_and_a_hint_that_loses_nothing(code: int, tmp_path: Path) -> None:
    error = sqlite3.OperationalError("as SQLite says it")
    error.sqlite_errorcode = code

    found = database_failure(error, tmp_path / "toolcrib.db")

    assert found is not None
    message, hint, _ = found
    assert CODES[code] in message
    assert str(tmp_path / "toolcrib.db") in message
    assert hint
    for word in ("move it", "Move it", "delete", "Delete", "remove", "a new one"):
        assert word not in hint
    others = [said for other, said in CODES.items() if said != CODES[code]]
    assert not any(said in message for said in others)

"""Chats as rows of the database: the statements, and what is made of what they give."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from toolcrib.agent.chat import ChatInfo
from toolcrib.store.database import transact
from toolcrib.store.moments import from_stored, to_stored

_INFO = """
    SELECT id, title, model, created, updated, parent,
           (SELECT count(*) FROM chat_entries WHERE chat = chats.id), project, pinned, banned, deleted
    FROM chats
"""


_APPEND = "INSERT INTO chat_entries VALUES (?, ?, ?, ?, ?)"
EntryRow = tuple[str, int, int, str, str]
"""An entry's chat, position, time, kind and body."""


def read_infos(connection: sqlite3.Connection, clause: str, values: Sequence[Any]) -> list[ChatInfo]:
    """The chats that a clause of SQL leaves."""
    return [_read_info(row) for row in connection.execute(f"{_INFO} {clause}", values)]


def insert(info: ChatInfo, connection: sqlite3.Connection) -> None:
    """Write a new chat."""
    connection.execute(
        "INSERT INTO chats (id, title, model, created, updated, parent, project, pinned, banned)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            info.id,
            info.title,
            info.model,
            to_stored(info.created),
            to_stored(info.updated),
            info.parent,
            info.project,
            json.dumps(info.pinned),
            json.dumps(info.banned),
        ),
    )


def insert_with(info: ChatInfo, rows: Sequence[EntryRow], connection: sqlite3.Connection) -> None:
    """Write a new chat and its first entries."""

    def write(within: sqlite3.Connection) -> None:
        insert(info, within)
        within.executemany(_APPEND, rows)

    transact(connection, write)


def update(info: ChatInfo, connection: sqlite3.Connection) -> None:
    """Write what can change of a chat, save its entries."""
    connection.execute(
        "UPDATE chats SET title = ?, model = ?, project = ?, pinned = ?, banned = ?, deleted = ?"
        " WHERE id = ?",
        (
            info.title,
            info.model,
            info.project,
            json.dumps(info.pinned),
            json.dumps(info.banned),
            None if info.deleted is None else to_stored(info.deleted),
            info.id,
        ),
    )


def update_use(info: ChatInfo, connection: sqlite3.Connection) -> None:
    """Write what a chat is called, who answers in it, and for which folder."""
    connection.execute(
        "UPDATE chats SET title = ?, model = ?, project = ? WHERE id = ?",
        (info.title, info.model, info.project, info.id),
    )


def entry_rows(chat: str, connection: sqlite3.Connection) -> list[tuple[int, str, str]]:
    """The entries of a chat: when, of which kind, and what they hold."""
    statement = "SELECT time, kind, body FROM chat_entries WHERE chat = ? ORDER BY position"
    return connection.execute(statement, (chat,)).fetchall()


def append(row: EntryRow, connection: sqlite3.Connection) -> None:
    """Write one more entry."""
    transact(connection, lambda within: _append(row, within))


def rewrite(row: EntryRow, mark: str, connection: sqlite3.Connection) -> None:
    """Write an entry in the place of the one with this mark; append it when there is none."""

    def write(within: sqlite3.Connection) -> None:
        found = within.execute(
            "SELECT position FROM chat_entries"
            " WHERE chat = ? AND position >= ? AND json_extract(body, '$.mark') = ?",
            (*row[:2], mark),
        ).fetchone()
        if found is None:
            _append(row, within)
            return
        # Deleted and inserted rather than updated: only what is inserted can be found by its words.
        within.execute("DELETE FROM chat_entries WHERE chat = ? AND position = ?", (row[0], found[0]))
        _append((row[0], found[0], *row[2:]), within)

    transact(connection, write)


def _append(row: EntryRow, within: sqlite3.Connection) -> None:
    try:
        within.execute(_APPEND, row)
    except sqlite3.IntegrityError:
        # Somebody else went on with the chat meanwhile: both are kept, one after the other.
        last = within.execute("SELECT max(position) FROM chat_entries WHERE chat = ?", row[:1]).fetchone()
        if last[0] is None:
            raise
        within.execute(_APPEND, (row[0], last[0] + 1, *row[2:]))
    within.execute("UPDATE chats SET updated = ? WHERE id = ?", (row[2], row[0]))


def copy(info: ChatInfo, source: str, count: int, connection: sqlite3.Connection) -> None:
    """Write a new chat with the first entries of another."""

    def write(within: sqlite3.Connection) -> None:
        insert(info, within)
        within.execute(
            "INSERT INTO chat_entries SELECT ?, position, time, kind, body FROM chat_entries"
            " WHERE chat = ? AND position < ?",
            (info.id, source, count),
        )

    transact(connection, write)


def erase(chat: str, connection: sqlite3.Connection) -> None:
    """Remove a chat for good."""
    connection.execute("DELETE FROM chats WHERE id = ?", (chat,))


def erase_deleted(before: datetime, connection: sqlite3.Connection) -> None:
    """Remove those for good that were deleted before this."""
    connection.execute("DELETE FROM chats WHERE deleted < ?", (to_stored(before),))


def _read_info(row: tuple[Any, ...]) -> ChatInfo:
    chat, title, model, created, updated, parent, entries, project, pinned, banned, deleted = row
    return ChatInfo(
        id=chat,
        title=title,
        model=model,
        created=from_stored(created),
        updated=from_stored(updated),
        parent=parent,
        entries=entries,
        project=project,
        pinned=tuple(json.loads(pinned)),
        banned=tuple(json.loads(banned)),
        deleted=None if deleted is None else from_stored(deleted),
    )

"""Chats as rows of the database: statements, rows, and search.

A search matches titles and messages that contain all words, or parts of words.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from toolcrib.agent.chat import ChatInfo
from toolcrib.store.columns import from_stored, to_stored
from toolcrib.store.connection import Connection, contains_all, transact

_INFO = """
    SELECT id, title, model, created, updated, parent,
           (SELECT count(*) FROM chat_entries WHERE chat = chats.id), project, pinned, banned, deleted
    FROM chats
"""


_APPEND = "INSERT INTO chat_entries VALUES (?, ?, ?, ?, ?)"
EntryRow = tuple[str, int, int, str, str]
"""An entry's chat, position, time, kind and body."""


def read_infos(connection: Connection, clause: str, values: Sequence[Any]) -> list[ChatInfo]:
    return [_read_info(row) for row in connection.execute(f"{_INFO} {clause}", values)]


def insert(info: ChatInfo, connection: Connection) -> None:
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


def insert_with(info: ChatInfo, rows: Sequence[EntryRow], connection: Connection) -> None:
    def write(within: Connection) -> None:
        insert(info, within)
        within.executemany(_APPEND, rows)

    transact(connection, write)


def update(info: ChatInfo, connection: Connection) -> None:
    """Write everything that can change except entries."""
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


def update_use(info: ChatInfo, connection: Connection) -> None:
    """Write title, model and folder."""
    connection.execute(
        "UPDATE chats SET title = ?, model = ?, project = ? WHERE id = ?",
        (info.title, info.model, info.project, info.id),
    )


def entry_rows(chat: str, connection: Connection) -> list[tuple[int, str, str]]:
    """The time, kind and body of each entry."""
    statement = "SELECT time, kind, body FROM chat_entries WHERE chat = ? ORDER BY position"
    return connection.execute(statement, (chat,)).fetchall()


def append(row: EntryRow, connection: Connection) -> None:
    transact(connection, lambda within: _append(row, within))


def rewrite(row: EntryRow, mark: str, connection: Connection) -> None:
    """Replace the entry with this mark; append it if missing."""

    def write(within: Connection) -> None:
        found = within.execute(
            "SELECT position FROM chat_entries"
            " WHERE chat = ? AND position >= ? AND json_extract(body, '$.mark') = ?",
            (*row[:2], mark),
        ).fetchone()
        if found is None:
            _append(row, within)
            return
        # Deleted and inserted rather than updated: only inserted rows are indexed for search.
        within.execute("DELETE FROM chat_entries WHERE chat = ? AND position = ?", (row[0], found[0]))
        _append((row[0], found[0], *row[2:]), within)

    transact(connection, write)


def _append(row: EntryRow, within: Connection) -> None:
    while not within.execute(f"{_APPEND} ON CONFLICT DO NOTHING", row).rowcount:
        if _is_written(row, within):
            break
        # Another process added to the chat meanwhile: both entries are kept.
        last = within.execute("SELECT max(position) FROM chat_entries WHERE chat = ?", row[:1]).fetchone()
        row = (row[0], last[0] + 1, *row[2:])
    within.execute("UPDATE chats SET updated = ? WHERE id = ?", (row[2], row[0]))


def _is_written(row: EntryRow, within: Connection) -> bool:
    """Whether this is a retry, after the connection was lost, of what had been written."""
    statement = "SELECT time, kind, body FROM chat_entries WHERE chat = ? AND position = ?"
    found: tuple[int, str, str] | None = within.execute(statement, row[:2]).fetchone()
    return found == row[2:]


def copy(info: ChatInfo, source: str, count: int, connection: Connection) -> None:
    def write(within: Connection) -> None:
        insert(info, within)
        within.execute(
            "INSERT INTO chat_entries SELECT CAST(? AS TEXT), position, time, kind, body FROM chat_entries"
            " WHERE chat = ? AND position < ?",
            (info.id, source, count),
        )

    transact(connection, write)


def erase(chat: str, connection: Connection) -> None:
    connection.execute("DELETE FROM chats WHERE id = ?", (chat,))


def erase_deleted(before: datetime, connection: Connection) -> None:
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


AROUND = 80
"""Characters before and after a word in an excerpt."""
_PLACES = "SELECT chat, position, text FROM chat_words"
_PARTIAL = (
    "SELECT chat, position, json_extract(body, '$.text') FROM chat_entries WHERE kind = 'partial'"
    " ORDER BY position"
)
_SHORTEST = 3
"""Characters; shorter words are not in the index and searched for in every message."""


@dataclass(frozen=True, kw_only=True)
class ChatMatch:
    info: ChatInfo
    excerpt: str = ""
    """The text around the words; empty if they are in the title."""
    position: int | None = None
    """The entry that contains them; None for the title."""


def search(words: str, limit: int, connection: Connection) -> list[ChatMatch]:
    wanted = words.split()
    if not wanted:
        return []
    places = _said(wanted, connection)
    found: list[ChatMatch] = []
    for info in read_infos(connection, "WHERE deleted IS NULL ORDER BY updated DESC, id", ()):
        title = info.title.casefold()
        if all(word.casefold() in title for word in wanted):
            found.append(ChatMatch(info=info))
        elif info.id in places:
            position, text = places[info.id]
            found.append(ChatMatch(info=info, excerpt=_excerpt(text, wanted[0]), position=position))
        if len(found) == limit:
            break
    return found


def _said(words: list[str], connection: Connection) -> dict[str, tuple[int, str]]:
    """By chat, the last message with all words."""
    long = [word for word in words if len(word) >= _SHORTEST]
    short = [word.casefold() for word in words if len(word) < _SHORTEST]
    if long:
        clause, values = contains_all(connection, "chat_words", "text", long)
        rows = connection.execute(f"{_PLACES} WHERE {clause} ORDER BY position", values)
    else:
        rows = connection.execute(f"{_PLACES} ORDER BY position")
    found = {
        chat: (position, text)
        for chat, position, text in rows
        if not short or all(word in text.casefold() for word in short)
    }
    return {**_interrupted(words, connection), **found}


def _interrupted(words: list[str], connection: Connection) -> dict[str, tuple[int, str]]:
    """By chat, the last interrupted answer with all words."""
    wanted = [word.casefold() for word in words]
    return {
        chat: (position, text)
        for chat, position, text in connection.execute(_PARTIAL)
        if all(word in text.casefold() for word in wanted)
    }


def _excerpt(text: str, word: str) -> str:
    plain = " ".join(text.split())
    at = max(0, plain.casefold().find(word.casefold()))
    start, end = max(0, at - AROUND), at + len(word) + AROUND
    return f"{'…' if start else ''}{plain[start:end]}{'…' if end < len(plain) else ''}"

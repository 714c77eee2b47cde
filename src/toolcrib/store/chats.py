"""Keeps chats, entry by entry; what was appended is on disk a moment later, without anyone waiting."""

from __future__ import annotations

import json
import logging
import secrets
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import Any

from toolcrib.agent.chat import Chat, ChatInfo, Entry
from toolcrib.agent.entry_json import entry_json, read_entry
from toolcrib.clock import Clock, SystemClock
from toolcrib.errors import NotFound
from toolcrib.store.database import Database, transact
from toolcrib.store.moments import from_stored, to_stored

logger = logging.getLogger(__name__)

LAST = "last"
_INFO = """
    SELECT id, title, model, created, updated, parent,
           (SELECT count(*) FROM chat_entries WHERE chat = chats.id)
    FROM chats
"""


class Chats:
    """The chats of a home."""

    def __init__(self, database: Database, clock: Clock | None = None) -> None:
        self._database = database
        self._clock = clock or SystemClock()
        self.errors = 0
        """Writes that failed."""

    async def create(self, model: str, *, title: str = "") -> Chat:
        """A new chat without entries."""
        now = self._clock.now()
        info = ChatInfo(id=secrets.token_hex(6), title=title, model=model, created=now, updated=now)
        await self._database.run(partial(_insert, info))
        return Chat(info)

    async def load(self, chat: str) -> Chat:
        """A chat by its id, by the beginning of it, or the `last` one; raises `NotFound`."""
        info = await self._find(chat)
        rows = await self._database.run(partial(_rows, info.id))
        return Chat(info, [read_entry(kind, json.loads(body)) for kind, body in rows])

    def append(self, chat: str, position: int, entry: Entry) -> None:
        """Keep one more entry."""
        kind, body = entry_json(entry)
        row = (chat, position, to_stored(self._clock.now()), kind, json.dumps(body))
        self._submit(partial(_append, row))

    def change(self, info: ChatInfo) -> None:
        """Keep a new title or model."""
        self._submit(partial(_update, info))

    async def flush(self) -> None:
        """Wait until all that was handed over is on disk."""
        await self._database.run(lambda connection: None)

    async def list(self, limit: int = 50) -> Sequence[ChatInfo]:
        """The latest chats first."""
        statement = f"{_INFO} ORDER BY updated DESC, id LIMIT ?"
        rows = await self._database.run(lambda within: within.execute(statement, (limit,)).fetchall())
        return [_read_info(row) for row in rows]

    async def fork(self, chat: str, entries: int | None = None) -> Chat:
        """A new chat that begins as another did; `entries` is how many of it, all when left out."""
        whole = await self.load(chat)
        taken = whole.entries if entries is None else whole.entries[: max(0, entries)]
        now = self._clock.now()
        info = replace(
            whole.info, id=secrets.token_hex(6), parent=whole.id, created=now, updated=now, entries=len(taken)
        )
        await self._database.run(partial(_copy, info, whole.id, len(taken)))
        return Chat(info, list(taken))

    async def delete(self, chat: str) -> None:
        """Forget a chat for good; raises `NotFound`."""
        info = await self._find(chat)
        await self._database.run(partial(_delete, info.id))

    async def _find(self, chat: str) -> ChatInfo:
        if chat == LAST:
            latest = await self.list(1)
            if latest:
                return latest[0]
            raise NotFound("There is no chat yet.", hint="Begin one with: toolcrib chat")
        statement = f"{_INFO} WHERE substr(id, 1, ?) = ? LIMIT 2"
        rows = await self._database.run(
            lambda within: within.execute(statement, (len(chat), chat)).fetchall() if chat else []
        )
        if len(rows) == 1:
            return _read_info(rows[0])
        several = "Several chats begin with" if rows else "There is no chat called"
        raise NotFound(f"{several} {chat!r}.", hint="List them with: toolcrib chat --list")

    def _submit(self, work: Callable[[sqlite3.Connection], None]) -> None:
        self._database.submit(work).add_done_callback(self._take_in)

    def _take_in(self, written: Future[None]) -> None:
        error = written.exception()
        if error is not None:
            self.errors += 1
            logger.error("A chat cannot be written: %s", error)


def _insert(info: ChatInfo, connection: sqlite3.Connection) -> None:
    row = (info.id, info.title, info.model, to_stored(info.created), to_stored(info.updated), info.parent)
    connection.execute("INSERT INTO chats VALUES (?, ?, ?, ?, ?, ?)", row)


def _rows(chat: str, connection: sqlite3.Connection) -> list[tuple[str, str]]:
    statement = "SELECT kind, body FROM chat_entries WHERE chat = ? ORDER BY position"
    return connection.execute(statement, (chat,)).fetchall()


def _append(row: tuple[str, int, int, str, str], connection: sqlite3.Connection) -> None:
    def write(within: sqlite3.Connection) -> None:
        within.execute("INSERT INTO chat_entries VALUES (?, ?, ?, ?, ?)", row)
        within.execute("UPDATE chats SET updated = ? WHERE id = ?", (row[2], row[0]))

    transact(connection, write)


def _update(info: ChatInfo, connection: sqlite3.Connection) -> None:
    connection.execute(
        "UPDATE chats SET title = ?, model = ? WHERE id = ?", (info.title, info.model, info.id)
    )


def _copy(info: ChatInfo, source: str, count: int, connection: sqlite3.Connection) -> None:
    def write(within: sqlite3.Connection) -> None:
        _insert(info, within)
        within.execute(
            "INSERT INTO chat_entries SELECT ?, position, time, kind, body FROM chat_entries"
            " WHERE chat = ? AND position < ?",
            (info.id, source, count),
        )

    transact(connection, write)


def _delete(chat: str, connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM chats WHERE id = ?", (chat,))


def _read_info(row: tuple[Any, ...]) -> ChatInfo:
    chat, title, model, created, updated, parent, entries = row
    return ChatInfo(
        id=chat,
        title=title,
        model=model,
        created=from_stored(created),
        updated=from_stored(updated),
        parent=parent,
        entries=entries,
    )

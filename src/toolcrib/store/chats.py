"""Stores chats entry by entry, in the background: how long a deleted chat can be restored, how chats are
searched, the length of excerpts, and the titles of forks.

A search matches titles and messages that contain all words, or parts of words.
"""

from __future__ import annotations

import builtins
import contextlib
import itertools
import json
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar

from toolcrib.agent.chat import Chat, ChatMetadata, Entry, Partial, Said
from toolcrib.agent.entry_json import entry_json, read_entry
from toolcrib.clock import Clock, SystemClock
from toolcrib.errors import NotFound
from toolcrib.schema.messages import FromModel, FromUser
from toolcrib.store.chat_rows import beside_loop
from toolcrib.store.columns import from_stored, to_stored
from toolcrib.store.connection import DatabaseConnection, contains_all, transact
from toolcrib.store.work_queue import AsyncDatabase

_INFO = """
    SELECT id, title, model, created, updated, parent,
           (SELECT count(*) FROM chat_entries WHERE chat = chats.id), project, pinned, banned, deleted,
           pinned_at
    FROM chats
"""


_APPEND = "INSERT INTO chat_entries VALUES (?, ?, ?, ?, ?)"
EntryRow = tuple[str, int, int, str, str]
"""An entry's chat, position, time, kind and body."""

T = TypeVar("T")

LAST = "last"
KEPT_DELETED = timedelta(days=30)


def read_infos(connection: DatabaseConnection, clause: str, values: Sequence[Any]) -> list[ChatMetadata]:
    return [_read_info(row) for row in connection.execute(f"{_INFO} {clause}", values)]


def insert(info: ChatMetadata, connection: DatabaseConnection) -> None:
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


def insert_with(info: ChatMetadata, rows: Sequence[EntryRow], connection: DatabaseConnection) -> None:
    def write(within: DatabaseConnection) -> None:
        insert(info, within)
        within.executemany(_APPEND, rows)

    transact(connection, write)


def update(info: ChatMetadata, connection: DatabaseConnection) -> None:
    """Write everything that can change except entries."""
    connection.execute(
        "UPDATE chats SET title = ?, model = ?, project = ?, pinned = ?, banned = ?, deleted = ?,"
        " pinned_at = ? WHERE id = ?",
        (
            info.title,
            info.model,
            info.project,
            json.dumps(info.pinned),
            json.dumps(info.banned),
            None if info.deleted is None else to_stored(info.deleted),
            None if info.pinned_at is None else to_stored(info.pinned_at),
            info.id,
        ),
    )


def update_use(info: ChatMetadata, connection: DatabaseConnection) -> None:
    """Write title, model and folder."""
    connection.execute(
        "UPDATE chats SET title = ?, model = ?, project = ? WHERE id = ?",
        (info.title, info.model, info.project, info.id),
    )


def entry_rows(chat: str, connection: DatabaseConnection) -> list[tuple[int, str, str]]:
    """The time, kind and body of each entry."""
    statement = "SELECT time, kind, body FROM chat_entries WHERE chat = ? ORDER BY position"
    return connection.execute(statement, (chat,)).fetchall()


def append(row: EntryRow, connection: DatabaseConnection) -> None:
    transact(connection, lambda within: _append(row, within))


def rewrite(row: EntryRow, mark: str, connection: DatabaseConnection) -> None:
    """Replace the entry with this mark; append it if missing."""

    def write(within: DatabaseConnection) -> None:
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


def _append(row: EntryRow, within: DatabaseConnection) -> None:
    while not within.execute(f"{_APPEND} ON CONFLICT DO NOTHING", row).rowcount:
        if _is_written(row, within):
            break
        # Another process added to the chat meanwhile: both entries are kept.
        last = within.execute("SELECT max(position) FROM chat_entries WHERE chat = ?", row[:1]).fetchone()
        row = (row[0], last[0] + 1, *row[2:])
    within.execute("UPDATE chats SET updated = ? WHERE id = ?", (row[2], row[0]))


def _is_written(row: EntryRow, within: DatabaseConnection) -> bool:
    """Whether this is a retry, after the connection was lost, of what had been written."""
    statement = "SELECT time, kind, body FROM chat_entries WHERE chat = ? AND position = ?"
    found: tuple[int, str, str] | None = within.execute(statement, row[:2]).fetchone()
    return found == row[2:]


def copy(info: ChatMetadata, source: str, count: int, connection: DatabaseConnection) -> None:
    def write(within: DatabaseConnection) -> None:
        insert(info, within)
        within.execute(
            "INSERT INTO chat_entries SELECT CAST(? AS TEXT), position, time, kind, body FROM chat_entries"
            " WHERE chat = ? AND position < ?",
            (info.id, source, count),
        )

    transact(connection, write)


def erase(chat: str, connection: DatabaseConnection) -> None:
    connection.execute("DELETE FROM chats WHERE id = ?", (chat,))


def erase_deleted(before: datetime, connection: DatabaseConnection) -> None:
    connection.execute("DELETE FROM chats WHERE deleted < ?", (to_stored(before),))


def _read_info(row: tuple[Any, ...]) -> ChatMetadata:
    chat, title, model, created, updated, parent, entries, project, pinned, banned, deleted, pinned_at = row
    return ChatMetadata(
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
        pinned_at=None if pinned_at is None else from_stored(pinned_at),
    )


AROUND = 80
"""Characters before and after a word in an excerpt."""
_PLACES = "SELECT chat, position, text FROM chat_words"
_LAST_PLACES = "SELECT chat, max(position) FROM chat_words"
_PARTIAL = (
    "SELECT chat, position, json_extract(body, '$.text') FROM chat_entries WHERE kind = 'partial'"
    " ORDER BY position"
)
_SHORTEST = 3
"""Characters; shorter words are not in the index and searched for in every message."""


@dataclass(frozen=True, kw_only=True)
class ChatMatch:
    info: ChatMetadata
    excerpt: str = ""
    """The text around the words; empty if they are in the title."""
    position: int | None = None
    """The entry that contains them; None for the title."""


def search(words: str, limit: int, connection: DatabaseConnection) -> list[ChatMatch]:
    wanted = words.split()
    if not wanted:
        return []
    places = _said(wanted, connection)
    found: dict[str, int | None] = {}
    titles = "SELECT id, title FROM chats WHERE deleted IS NULL ORDER BY updated DESC, id"
    for chat, title in connection.execute(titles):
        in_title = _has_all(title, wanted)
        if in_title or chat in places:
            found[chat] = None if in_title else places[chat]
        if len(found) == limit:
            break
    return [_match(info, found[info.id], wanted, connection) for info in _infos_of(list(found), connection)]


def _infos_of(chats: Sequence[str], connection: DatabaseConnection) -> list[ChatMetadata]:
    marks = ", ".join("?" * len(chats))
    return read_infos(connection, f"WHERE id IN ({marks}) ORDER BY updated DESC, id", chats) if chats else []


def _match(
    info: ChatMetadata, position: int | None, words: Sequence[str], connection: DatabaseConnection
) -> ChatMatch:
    if position is None:
        return ChatMatch(info=info)
    statement = "SELECT kind, body FROM chat_entries WHERE chat = ? AND position = ?"
    kind, body = connection.execute(statement, (info.id, position)).fetchone()
    entry = read_entry(kind, json.loads(body))
    said = entry.message if isinstance(entry, Said) else entry
    text = said.text if isinstance(said, FromUser | FromModel | Partial) else ""
    return ChatMatch(info=info, excerpt=_excerpt(text, words[0]), position=position)


def _said(words: Sequence[str], connection: DatabaseConnection) -> dict[str, int]:
    """By chat, the position of the last message with all words."""
    long = [word for word in words if len(word) >= _SHORTEST]
    short = [word for word in words if len(word) < _SHORTEST]
    clause, values = contains_all(connection, "chat_words", "text", long) if long else ("1 = 1", [])
    if short:
        rows = connection.execute(f"{_PLACES} WHERE {clause} ORDER BY position", values)
        found = {chat: position for chat, position, text in rows if _has_all(text, short)}
    else:
        rows = connection.execute(f"{_LAST_PLACES} WHERE {clause} GROUP BY chat", values)
        found = dict(rows.fetchall())
    return {**_interrupted(words, connection), **found}


def _interrupted(words: Sequence[str], connection: DatabaseConnection) -> dict[str, int]:
    """By chat, the position of the last interrupted answer with all words."""
    rows = connection.execute(_PARTIAL)
    return {chat: position for chat, position, text in rows if _has_all(text, words)}


def _has_all(text: str, words: Sequence[str]) -> bool:
    plain = text.casefold()
    return all(word.casefold() in plain for word in words)


def _excerpt(text: str, word: str) -> str:
    plain = " ".join(text.split())
    at = max(0, plain.casefold().find(word.casefold()))
    start, end = max(0, at - AROUND), at + len(word) + AROUND
    return f"{'…' if start else ''}{plain[start:end]}{'…' if end < len(plain) else ''}"


class Chats:
    """The chats of a home. A chat is named by its id, the beginning of its id, or `last`."""

    def __init__(self, database: AsyncDatabase, clock: Clock | None = None) -> None:
        self._database = database
        self._clock = clock or SystemClock()
        self.busy: set[str] = set()
        """Chats with a running turn."""

    async def create(
        self,
        model: str,
        *,
        title: str = "",
        entries: Sequence[Entry] = (),
        pinned: Sequence[str] = (),
        banned: Sequence[str] = (),
    ) -> Chat:
        """A new chat, written together with its first entries."""
        now = self._clock.now()
        info = ChatMetadata(
            id=secrets.token_hex(6),
            title=title,
            model=model,
            created=now,
            updated=now,
            entries=len(entries),
            pinned=tuple(dict.fromkeys(pinned)),
            banned=tuple(dict.fromkeys(banned)),
        )
        rows = [_row(info.id, position, now, entry) for position, entry in enumerate(entries)]
        await self._run(partial(insert_with, info, rows))
        return Chat(info, list(entries), [now] * len(entries))

    async def load(self, chat: str) -> Chat:
        """A chat with all its entries; raises `NotFound`."""
        info = await self._find(chat)
        rows = await self._run(partial(entry_rows, info.id))
        entries = await beside_loop(rows, _read_entries, rows)
        return Chat(info, entries, [from_stored(time) for time, _, _ in rows])

    async def title(self, chat: str) -> str | None:
        """A chat's title; None if there is no such chat."""
        with contextlib.suppress(NotFound):
            return (await self._find(chat)).title
        return None

    def append(self, chat: str, position: int, entry: Entry) -> None:
        self._submit(partial(append, _row(chat, position, self._clock.now(), entry)))

    def rewrite(self, chat: str, position: int, mark: str, entry: Entry) -> None:
        """Replace the entry with this mark, at this position or later; append it if missing."""
        now = self._clock.now()

        def write(connection: DatabaseConnection) -> None:
            # Encoded here, in the database's thread, because answers can be long.
            rewrite(_row(chat, position, now, entry), mark, connection)

        self._submit(write)

    def change(self, info: ChatMetadata) -> None:
        """Store another title, model or folder."""
        self._submit(partial(update_use, info))

    async def flush(self) -> None:
        """Wait until everything is on disk."""
        await self._run(lambda connection: None)

    async def list(self, limit: int = 50, *, before: datetime | None = None) -> Sequence[ChatMetadata]:
        """The latest chats first; `before` for those last used earlier."""
        until = 2**62 if before is None else to_stored(before)
        clause = "WHERE deleted IS NULL AND updated < ? ORDER BY updated DESC, id LIMIT ?"
        return await self._infos(clause, until, limit)

    async def pinned(self) -> Sequence[ChatMetadata]:
        """The chats that are pinned to the top of the list, the latest first."""
        return await self._infos("WHERE deleted IS NULL AND pinned_at IS NOT NULL ORDER BY updated DESC, id")

    async def pin(self, chat: str, *, pinned: bool) -> ChatMetadata:
        """Pin a chat to the top of the list, or unpin it."""
        return await self._change(chat, pinned_at=self._clock.now() if pinned else None)

    async def search(self, words: str, limit: int = 50) -> Sequence[ChatMatch]:
        """Chats with all of these words in one message or in the title, latest first."""
        return await self._run(partial(search, words, limit))

    async def rename(self, chat: str, title: str) -> ChatMetadata:
        return await self._change(chat, title=" ".join(title.split()))

    async def choose_tools(
        self, chat: str, *, pinned: Sequence[str] | None = None, banned: Sequence[str] | None = None
    ) -> ChatMetadata:
        """Set the tools that a chat always offers and never uses; None leaves them unchanged."""
        info = await self._find(chat)
        return await self._change(
            info.id,
            pinned=info.pinned if pinned is None else tuple(dict.fromkeys(pinned)),
            banned=info.banned if banned is None else tuple(dict.fromkeys(banned)),
        )

    async def fork(self, chat: str, entries: int | None = None) -> Chat:
        """A new chat with the first `entries` of another, all by default."""
        whole = await self.load(chat)
        count = len(whole.entries) if entries is None else min(max(0, entries), len(whole.entries))
        now = self._clock.now()
        info = replace(
            whole.info,
            id=secrets.token_hex(6),
            title=await self._fork_title(whole.info.title),
            parent=whole.id,
            created=now,
            updated=now,
            entries=count,
            pinned_at=None,
        )
        await self._run(partial(copy, info, whole.id, count))
        return Chat(info, whole.entries[:count], whole.times[:count])

    async def _fork_title(self, title: str) -> str:
        """A title that no other chat has."""
        if not title:
            return ""
        beginning = f"{_FORK.sub('', title)} (fork"
        alike = await self._infos("WHERE substr(title, 1, ?) = ?", len(beginning), beginning)
        taken = {info.title for info in alike}
        return next(candidate for candidate in _fork_titles(title) if candidate not in taken)

    async def delete(self, chat: str) -> ChatMetadata:
        """Delete a chat; `restore` brings it back until it is removed after some weeks."""
        now = self._clock.now()
        await self._run(partial(erase_deleted, now - KEPT_DELETED))
        return await self._change(chat, deleted=now)

    async def deleted(self, limit: int = 50) -> Sequence[ChatMetadata]:
        """Chats that can be restored, latest first."""
        return await self._infos("WHERE deleted IS NOT NULL ORDER BY deleted DESC, id LIMIT ?", limit)

    async def restore(self, chat: str) -> ChatMetadata:
        """Raises `NotFound` if it is not deleted."""
        info = await self._find(chat, deleted=True)
        restored = replace(info, deleted=None)
        await self._run(partial(update, restored))
        return restored

    async def erase(self, chat: str) -> None:
        """Remove a chat, deleted or not; raises `NotFound`."""
        try:
            info = await self._find(chat)
        except NotFound:
            info = await self._find(chat, deleted=True)
        await self._run(partial(erase, info.id))

    async def _change(self, chat: str, **changes: object) -> ChatMetadata:
        info: ChatMetadata = replace(await self._find(chat), **changes)  # type: ignore[arg-type]
        await self._run(partial(update, info))
        return info

    async def _infos(self, clause: str, *values: object) -> Sequence[ChatMetadata]:
        return await self._run(lambda within: read_infos(within, clause, values))

    async def _find(self, chat: str, *, deleted: bool = False) -> ChatMetadata:
        if chat == LAST:
            latest = await self.list(1)
            if latest:
                return latest[0]
            raise NotFound("There is no chat yet.", hint="Start one with: toolcrib chat")
        there = "NOT NULL" if deleted else "NULL"
        found = await self._infos(
            f"WHERE substr(id, 1, ?) = ? AND deleted IS {there} LIMIT 2", len(chat), chat
        )
        if chat and len(found) == 1:
            return found[0]
        several = "Several chats begin with" if chat and found else "There is no chat called"
        raise NotFound(f"{several} {chat!r}.", hint="List them with: toolcrib chat --list")

    async def _run(self, work: Callable[[DatabaseConnection], T]) -> T:
        """After the entries that wait to be written, so that none is missing or overtaken."""
        return await self._database.run(work, in_order=True)

    def _submit(self, work: Callable[[DatabaseConnection], None]) -> None:
        self._database.keep(work, "A chat")


_FORK = re.compile(r" \(fork(?: \d+)?\)$")


def _fork_titles(title: str) -> Iterator[str]:
    """Titles for a fork: `Tidy up (fork)`, `Tidy up (fork 2)` and so on."""
    plain = _FORK.sub("", title)
    yield f"{plain} (fork)"
    yield from (f"{plain} (fork {number})" for number in itertools.count(2))


def _read_entries(rows: Sequence[tuple[int, str, str]]) -> builtins.list[Entry]:
    return [read_entry(kind, json.loads(body)) for _, kind, body in rows]


def _row(chat: str, position: int, time: datetime, entry: Entry) -> EntryRow:
    kind, body = entry_json(entry)
    return (chat, position, to_stored(time), kind, json.dumps(body))

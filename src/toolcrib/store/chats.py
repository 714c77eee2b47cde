"""Stores chats entry by entry, in the background.

A deleted chat can be restored for a while before it is removed.
"""

from __future__ import annotations

import builtins
import contextlib
import itertools
import json
import logging
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

from toolcrib.agent.chat import Chat, ChatInfo, Entry
from toolcrib.agent.entry_json import entry_json, read_entry
from toolcrib.clock import Clock, SystemClock
from toolcrib.errors import NotFound
from toolcrib.store import chat_records
from toolcrib.store.chat_records import ChatMatch, search
from toolcrib.store.columns import from_stored, to_stored
from toolcrib.store.connection import Connection
from toolcrib.store.reading import beside_loop
from toolcrib.store.work_queue import Database

logger = logging.getLogger(__name__)

T = TypeVar("T")

LAST = "last"
KEPT_DELETED = timedelta(days=30)


class Chats:
    """The chats of a home. A chat is named by its id, the beginning of its id, or `last`."""

    def __init__(self, database: Database, clock: Clock | None = None) -> None:
        self._database = database
        self._clock = clock or SystemClock()
        self.busy: set[str] = set()
        """Chats with a running turn."""
        self.errors = 0
        """Failed writes."""

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
        info = ChatInfo(
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
        await self._run(partial(chat_records.insert_with, info, rows))
        return Chat(info, list(entries), [now] * len(entries))

    async def load(self, chat: str) -> Chat:
        """A chat with all its entries; raises `NotFound`."""
        info = await self._find(chat)
        rows = await self._run(partial(chat_records.entry_rows, info.id))
        entries = await beside_loop(rows, _read_entries, rows)
        return Chat(info, entries, [from_stored(time) for time, _, _ in rows])

    async def title(self, chat: str) -> str | None:
        """A chat's title; None if there is no such chat."""
        with contextlib.suppress(NotFound):
            return (await self._find(chat)).title
        return None

    def append(self, chat: str, position: int, entry: Entry) -> None:
        self._submit(partial(chat_records.append, _row(chat, position, self._clock.now(), entry)))

    def rewrite(self, chat: str, position: int, mark: str, entry: Entry) -> None:
        """Replace the entry with this mark, at this position or later; append it if missing."""
        now = self._clock.now()

        def write(connection: Connection) -> None:
            # Encoded here, in the database's thread, because answers can be long.
            chat_records.rewrite(_row(chat, position, now, entry), mark, connection)

        self._submit(write)

    def change(self, info: ChatInfo) -> None:
        """Store another title, model or folder."""
        self._submit(partial(chat_records.update_use, info))

    async def flush(self) -> None:
        """Wait until everything is on disk."""
        await self._run(lambda connection: None)

    async def list(self, limit: int = 50, *, before: datetime | None = None) -> Sequence[ChatInfo]:
        """The latest chats first; `before` for those last used earlier."""
        until = 2**62 if before is None else to_stored(before)
        clause = "WHERE deleted IS NULL AND updated < ? ORDER BY updated DESC, id LIMIT ?"
        return await self._infos(clause, until, limit)

    async def search(self, words: str, limit: int = 50) -> Sequence[ChatMatch]:
        """Chats with all of these words in one message or in the title, latest first."""
        return await self._run(partial(search, words, limit))

    async def rename(self, chat: str, title: str) -> ChatInfo:
        return await self._change(chat, title=" ".join(title.split()))

    async def choose_tools(
        self, chat: str, *, pinned: Sequence[str] | None = None, banned: Sequence[str] | None = None
    ) -> ChatInfo:
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
        )
        await self._run(partial(chat_records.copy, info, whole.id, count))
        return Chat(info, whole.entries[:count], whole.times[:count])

    async def _fork_title(self, title: str) -> str:
        """A title that no other chat has."""
        if not title:
            return ""
        beginning = f"{_FORK.sub('', title)} (fork"
        alike = await self._infos("WHERE substr(title, 1, ?) = ?", len(beginning), beginning)
        taken = {info.title for info in alike}
        return next(candidate for candidate in _fork_titles(title) if candidate not in taken)

    async def delete(self, chat: str) -> ChatInfo:
        """Delete a chat; `restore` brings it back until it is removed after some weeks."""
        now = self._clock.now()
        await self._run(partial(chat_records.erase_deleted, now - KEPT_DELETED))
        return await self._change(chat, deleted=now)

    async def deleted(self, limit: int = 50) -> Sequence[ChatInfo]:
        """Chats that can be restored, latest first."""
        return await self._infos("WHERE deleted IS NOT NULL ORDER BY deleted DESC, id LIMIT ?", limit)

    async def restore(self, chat: str) -> ChatInfo:
        """Raises `NotFound` if it is not deleted."""
        info = await self._find(chat, deleted=True)
        restored = replace(info, deleted=None)
        await self._run(partial(chat_records.update, restored))
        return restored

    async def erase(self, chat: str) -> None:
        """Remove a chat, deleted or not; raises `NotFound`."""
        try:
            info = await self._find(chat)
        except NotFound:
            info = await self._find(chat, deleted=True)
        await self._run(partial(chat_records.erase, info.id))

    async def _change(self, chat: str, **changes: object) -> ChatInfo:
        info: ChatInfo = replace(await self._find(chat), **changes)  # type: ignore[arg-type]
        await self._run(partial(chat_records.update, info))
        return info

    async def _infos(self, clause: str, *values: object) -> Sequence[ChatInfo]:
        return await self._run(lambda within: chat_records.read_infos(within, clause, values))

    async def _find(self, chat: str, *, deleted: bool = False) -> ChatInfo:
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

    async def _run(self, work: Callable[[Connection], T]) -> T:
        """After the entries that wait to be written, so that none is missing or overtaken."""
        return await self._database.run(work, in_order=True)

    def _submit(self, work: Callable[[Connection], None]) -> None:
        self._database.keep(work).add_done_callback(self._take_in)

    def _take_in(self, written: Future[None]) -> None:
        error = written.exception()
        if error is not None:
            self.errors += 1
            logger.error("A chat cannot be written: %s", error)


_FORK = re.compile(r" \(fork(?: \d+)?\)$")


def _fork_titles(title: str) -> Iterator[str]:
    """Titles for a fork: `Tidy up (fork)`, `Tidy up (fork 2)` and so on."""
    plain = _FORK.sub("", title)
    yield f"{plain} (fork)"
    yield from (f"{plain} (fork {number})" for number in itertools.count(2))


def _read_entries(rows: Sequence[tuple[int, str, str]]) -> builtins.list[Entry]:
    return [read_entry(kind, json.loads(body)) for _, kind, body in rows]


def _row(chat: str, position: int, time: datetime, entry: Entry) -> chat_records.EntryRow:
    kind, body = entry_json(entry)
    return (chat, position, to_stored(time), kind, json.dumps(body))

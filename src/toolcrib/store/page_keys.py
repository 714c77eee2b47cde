"""Access to the web page: a one-time token, and the key that a browser gets for it. Limits: minutes until a
sign-in link expires, days without use until a browser has to sign in again, most browsers.

Tokens are kept in memory for minutes. Keys are stored as hashes and expire after a month without use. All are
in memory, so that a request is checked without waiting.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from toolcrib.clock import Clock
from toolcrib.config.tokens import fits, hash_token
from toolcrib.store.columns import Row, from_stored, to_stored
from toolcrib.store.connection import DatabaseConnection, transact
from toolcrib.store.decisions import Decided, Decisions
from toolcrib.store.work_queue import AsyncDatabase, read_current

TOKEN_LIFE = timedelta(minutes=10)
UNUSED_LIFE = timedelta(days=30)
NOTED_EVERY = timedelta(minutes=15)
"""How precisely the last use of a key is stored."""
MOST_TOKENS = 32
MOST_KEYS = 256
MARK = "tcpage_"
"""Lets secret scanners recognise a key."""
_NAME_LENGTH = 200
_INSERT = "INSERT INTO page_keys (id, hash, name, made_at, used_at, decided) VALUES (?, ?, ?, ?, ?, ?)"


@dataclass(frozen=True, kw_only=True)
class PageKey:
    """A signed-in browser."""

    id: str
    hash: str
    name: str
    made_at: datetime
    used_at: datetime
    decided: Decided | None = None
    """Who signed it in, and where."""

    @property
    def row(self) -> Row:
        return (self.id, self.hash, self.name, to_stored(self.made_at), to_stored(self.used_at))


class PageKeys:
    """Created by `open`. `address` is where the page is served, if it is."""

    def __init__(self, database: AsyncDatabase, keys: dict[str, PageKey], clock: Clock) -> None:
        self.address: str | None = None
        self.on_revoked: Callable[[], object] = lambda: None
        self._database = database
        self._keys = keys
        self._clock = clock
        self._tokens: dict[str, datetime] = {}
        self._changes = 0

    @classmethod
    async def open(cls, database: AsyncDatabase, *, clock: Clock) -> PageKeys:
        return cls(database, await database.run(partial(_read_all, database.decisions)), clock)

    async def refresh(self) -> None:
        """Read all keys again, after another host changed them."""
        read = partial(_read_all, self._database.decisions)
        keys = await read_current(self._database, read, lambda: self._changes)
        before, self._keys = self._keys, keys
        if before.keys() - keys.keys():
            self.on_revoked()

    def invite(self) -> str:
        """A token that signs in one browser, once and soon."""
        now = self._clock.now()
        self._tokens = {token: until for token, until in self._tokens.items() if until > now}
        while len(self._tokens) >= MOST_TOKENS:
            del self._tokens[next(iter(self._tokens))]
        token = secrets.token_urlsafe(24)
        self._tokens[token] = now + TOKEN_LIFE
        return token

    async def admit(self, token: str, name: str) -> str | None:
        """The key for a token, which is then invalid; None for an invalid one."""
        until = self._tokens.pop(token, None)
        now = self._clock.now()
        if until is None or until <= now:
            return None
        self._make_room()
        identity, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
        key = PageKey(
            id=identity, hash=hash_token(secret), name=name[:_NAME_LENGTH], made_at=now, used_at=now
        )
        row = (*key.row, self._database.decisions.decide("page_keys", *key.row))
        await self._database.run(
            lambda connection: transact(connection, lambda within: _execute(_INSERT, row, within))
        )
        self._keys[identity] = key
        self._changes += 1
        return f"{MARK}{identity}_{secret}"

    def holder(self, key: str) -> PageKey | None:
        """The owner of a valid key, whose last use is updated."""
        identity, _, secret = key.removeprefix(MARK).partition("_")
        found = self._keys.get(identity)
        # Unknown ids are hashed too, so that timing does not reveal which ids exist.
        if not fits(secret, found.hash if found is not None else "") or found is None:
            return None
        now = self._clock.now()
        if found.used_at + UNUSED_LIFE <= now:
            self.revoke(identity)
            return None
        if found.used_at + NOTED_EVERY <= now:
            self._keys[identity] = found = replace(found, used_at=now)
            decided = self._database.decisions.decide("page_keys", *found.row, decided=found.decided)
            statement = "UPDATE page_keys SET used_at = ?, decided = ? WHERE id = ?"
            self._submit(statement, (to_stored(now), decided, identity))
        return found

    def is_good(self, identity: str) -> bool:
        """Whether the key of this id is not revoked."""
        return identity in self._keys

    def all(self) -> list[PageKey]:
        return sorted(self._keys.values(), key=lambda key: key.made_at, reverse=True)

    def revoke(self, identity: str) -> bool:
        """False if the id is unknown."""
        if self._keys.pop(identity, None) is None:
            return False
        self._submit("DELETE FROM page_keys WHERE id = ?", (identity,))
        self.on_revoked()
        return True

    def _make_room(self) -> None:
        while len(self._keys) >= MOST_KEYS:
            self.revoke(min(self._keys.values(), key=lambda key: key.used_at).id)

    def _submit(self, statement: str, row: tuple[Any, ...]) -> None:
        self._changes += 1
        self._database.keep(partial(_execute, statement, row), "Keys of signed-in browsers")


def _read_all(decisions: Decisions, connection: DatabaseConnection) -> dict[str, PageKey]:
    return {
        key: PageKey(
            id=key,
            hash=hashed,
            name=name,
            made_at=from_stored(made),
            used_at=from_stored(used),
            decided=Decided.read(decided),
        )
        for key, hashed, name, made, used, decided in decisions.read(connection, "page_keys")
    }


def _execute(statement: str, row: tuple[Any, ...], connection: DatabaseConnection) -> None:
    connection.execute(statement, row)

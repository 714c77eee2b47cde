"""The tokens and the connections of one Google account, shared by all calls of an event loop.

Concurrent refreshes become one. Connections are closed a while after the last request, so that no caller has
to end anything.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol
from weakref import WeakKeyDictionary

import httpx2

from toolcrib.accounts.account import Account
from toolcrib.accounts.google.credentials import GoogleCredentials
from toolcrib.accounts.google.endpoints import GoogleEndpoints
from toolcrib.accounts.google.tokens import refresh
from toolcrib.accounts.store import AccountStore
from toolcrib.errors import AuthRequired, ConfigError
from toolcrib.serverkit.network import open_client

logger = logging.getLogger(__name__)

IDLE = 30.0
"""Seconds after the last request at which the connections are closed."""
TIMEOUT = 30.0
"""Seconds without a byte."""
_LIMITS = httpx2.Limits(max_connections=10, max_keepalive_connections=5, keepalive_expiry=IDLE)


class SecretHolder(Protocol):
    """An `AccountStore`, as far as requests need it."""

    def secret(self, account: Account) -> str: ...

    def set_secret(self, account: Account, value: str) -> object: ...


class GoogleSession:
    def __init__(self, store: SecretHolder, account: Account) -> None:
        self.account = account
        self.endpoints = GoogleEndpoints.of(account.settings)
        self._store = store
        self._credentials: GoogleCredentials | None = None
        self._refreshing = asyncio.Lock()
        self._client: httpx2.AsyncClient | None = None
        self._users = 0
        self._closing: asyncio.TimerHandle | None = None
        self._closed: set[asyncio.Task[None]] = set()

    async def token(self, rejected: str = "") -> str:
        """An access token that has not expired, and is not the one that Google rejected."""
        found = self._credentials
        if found is None or not found.fresh() or found.access_token == rejected:
            async with self._refreshing:
                found = await self._renew(rejected)
        return found.access_token

    async def _renew(self, rejected: str) -> GoogleCredentials:
        found = self._credentials or await self._load()
        if not found.fresh() or found.access_token == rejected:
            found = await self._refresh(found)
        self._credentials = found
        return found

    async def _refresh(self, used: GoogleCredentials) -> GoogleCredentials:
        try:
            renewed = await refresh(self.account, used, self.endpoints)
        except AuthRequired:
            # Another process may have refreshed it, and the old refresh token works no more.
            stored = await self._load()
            if stored.refresh_token == used.refresh_token:
                raise
            renewed = stored if stored.fresh() else await refresh(self.account, stored, self.endpoints)
        await self._save(renewed, rotated=renewed.refresh_token != used.refresh_token)
        return renewed

    async def _load(self) -> GoogleCredentials:
        secret = await asyncio.to_thread(self._store.secret, self.account)
        return GoogleCredentials.from_secret(secret, self.account.name)

    async def _save(self, credentials: GoogleCredentials, *, rotated: bool) -> None:
        """Before the tokens are used: an issuer that rotates refresh tokens accepts the old one only once."""
        try:
            await asyncio.to_thread(self._store.set_secret, self.account, credentials.to_secret())
        except ConfigError:
            if rotated:
                raise
            logger.warning("access token not stored", extra={"account": self.account.name})

    @asynccontextmanager
    async def client(self) -> AsyncIterator[httpx2.AsyncClient]:
        """The shared client; open at least while the block runs."""
        if self._closing is not None:
            self._closing.cancel()
        if self._client is None:
            self._client = open_client(self.endpoints.policy, timeout=TIMEOUT, limits=_LIMITS)
        self._users += 1
        try:
            yield self._client
        finally:
            self._users -= 1
            if not self._users:
                self._closing = asyncio.get_running_loop().call_later(IDLE, self._close)

    def _close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            task = asyncio.get_running_loop().create_task(client.aclose())
            self._closed.add(task)
            task.add_done_callback(self._closed.discard)


_sessions: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[Path, str], GoogleSession]]
_sessions = WeakKeyDictionary()


def shared_session(store: AccountStore, account: Account) -> GoogleSession:
    """The session of an account in this event loop; a new one after the account was replaced."""
    sessions = _sessions.setdefault(asyncio.get_running_loop(), {})
    key = (store.file, account.name)
    found = sessions.get(key)
    if found is None or found.account != account:
        found = sessions[key] = GoogleSession(store, account)
    return found

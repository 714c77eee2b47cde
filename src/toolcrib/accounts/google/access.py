"""Requests to Google's APIs with an account's token: refreshed in time, retried where that is safe. Decides
the number of tries, the pauses between them, timeouts, and the largest response.

The tokens and the connections of one Google account, shared by all calls of an event loop. Concurrent
refreshes become one. Connections are closed a while after the last request, so that no caller has to end
anything.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import httpx2

from toolcrib.accounts.account import Account
from toolcrib.accounts.google.credentials import GoogleCredentials
from toolcrib.accounts.google.endpoints import GoogleApi, GoogleEndpoints
from toolcrib.accounts.google.failures import RATE_REASONS, failure_of, reasons_of
from toolcrib.accounts.google.tokens import refresh
from toolcrib.accounts.store import AccountStore
from toolcrib.errors import AuthRequired, ConfigError, NetworkRefused, ResultTooLarge
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.network import open_client

logger = logging.getLogger(__name__)

IDLE = 30.0
"""Seconds after the last request at which the connections are closed."""
TIMEOUT = 30.0
"""Seconds without a byte."""
_LIMITS = httpx2.Limits(max_connections=10, max_keepalive_connections=5, keepalive_expiry=IDLE)

DEADLINE = 120.0
"""Seconds for a request with all its retries."""
MAX_BYTES = 100 * 1024 * 1024
"""Of a response: an attachment of 50 MB takes 67 MB in base64."""
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 16.0
LONGEST_WAIT = 60.0
"""Seconds that Google may ask to wait; a longer wait is left to the caller."""
ATTEMPTS = 6
_IDEMPOTENT = frozenset({"GET", "HEAD", "PUT", "DELETE", "OPTIONS"})
_NOT_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
_OF_THE_TRANSFER = ("content-encoding", "content-length", "transfer-encoding")


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


@dataclass(frozen=True)
class _Call:
    """The arguments of a request."""

    method: str
    url: str
    options: dict[str, Any]
    headers: Mapping[str, str]

    @property
    def idempotent(self) -> bool:
        return self.method in _IDEMPOTENT


class GoogleAccess:
    """An account's way to Gmail and Google Calendar.

    Cheap to create: tokens and connections are shared by all objects for a stored account in an event loop.
    """

    def __init__(self, store: SecretHolder, account: Account) -> None:
        self.account = account
        self.endpoints = GoogleEndpoints.of(account.settings)
        self._store = store
        self._unshared: GoogleSession | None = None

    def base(self, api: GoogleApi) -> str:
        """What comes before a path, without a slash at the end.

        Gmail: `f"{access.base('gmail')}/gmail/v1/users/me/messages"`, and `/upload/gmail/v1/…` for uploads.
        Calendar: `f"{access.base('calendar')}/users/me/calendarList"`. The account's setting `api`, the
        origin of an emulator, gives `{api}` for Gmail and `{api}/calendar/v3` for Calendar.
        """
        return self.endpoints.base(api)

    async def request(
        self,
        method: str,
        url: str,
        *,
        params: Mapping[str, Any] | None = None,
        json: Any = None,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx2.Response:
        """Send a request with the account's token; returns a response that is not 401, 429 or 5xx.

        Raises `AuthRequired` if the user must sign in again, `ToolFailure` if Google cannot be reached or
        limits the account, `ResultTooLarge`. A response below 400 is a success; `failure_of(response,
        account)` makes an error of any other.
        """
        if not self.endpoints.is_ours(url):
            raise NetworkRefused("The account's token is sent only to Google's APIs.")
        options = {"params": params, "json": json, "content": content}
        call = _Call(method.upper(), url, options, headers or {})
        session = self._session()
        try:
            async with asyncio.timeout(DEADLINE), session.client() as client:
                return await self._persist(session, client, call)
        except TimeoutError:
            raise ToolFailure(
                f"Google did not answer within {DEADLINE:g} s.", "Try again, or ask for less at once."
            ) from None

    def _session(self) -> GoogleSession:
        if isinstance(self._store, AccountStore):
            return shared_session(self._store, self.account)
        if self._unshared is None:  # an account that is not stored yet
            self._unshared = GoogleSession(self._store, self.account)
        return self._unshared

    async def _persist(
        self, session: GoogleSession, client: httpx2.AsyncClient, call: _Call
    ) -> httpx2.Response:
        """Repeat the request until it succeeds, fails for good, or the attempts are used up."""
        for pause in _pauses():
            try:
                response = await self._authorized(session, client, call)
            except httpx2.TransportError as error:
                if pause is None or not (call.idempotent or isinstance(error, _NOT_SENT)):
                    raise _unreachable(call, error) from error
            else:
                if not _is_temporary(response):
                    return response
                asked = _retry_after(response)
                repeatable = call.idempotent or not _may_have_run(response)
                if pause is None or not repeatable or (asked or 0) > LONGEST_WAIT:
                    raise failure_of(response, self.account)
                pause = max(pause, asked or 0)
            await asyncio.sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    async def _authorized(
        self, session: GoogleSession, client: httpx2.AsyncClient, call: _Call
    ) -> httpx2.Response:
        """One attempt; a second one with a new token if Google rejects the first."""
        token = await session.token()
        response = await _send(client, call, token)
        if response.status_code == httpx2.codes.UNAUTHORIZED:
            response = await _send(client, call, await session.token(rejected=token))
        if response.status_code == httpx2.codes.UNAUTHORIZED:
            raise failure_of(response, self.account)
        return response


async def _send(client: httpx2.AsyncClient, call: _Call, token: str) -> httpx2.Response:
    headers = {**call.headers, "Authorization": f"Bearer {token}"}
    request = client.build_request(call.method, call.url, headers=headers, **call.options)
    response = await client.send(request, stream=True)
    try:
        parts, size = [], 0
        async for chunk in response.aiter_bytes():
            size += len(chunk)
            if size > MAX_BYTES:
                raise ResultTooLarge(f"Google's answer is larger than {MAX_BYTES:,} bytes.")
            parts.append(chunk)
    finally:
        await response.aclose()
    kept = [pair for pair in response.headers.multi_items() if pair[0].lower() not in _OF_THE_TRANSFER]
    return httpx2.Response(response.status_code, headers=kept, content=b"".join(parts), request=request)


def _pauses() -> list[float | None]:
    """The pause after each attempt, at random so that clients do not all return at once; None at the end."""
    longest = [min(LONGEST_PAUSE, FIRST_PAUSE * 2**number) for number in range(ATTEMPTS - 1)]
    return [*(seconds * random.uniform(0.5, 1) for seconds in longest), None]  # noqa: S311 - not a secret


def _is_temporary(response: httpx2.Response) -> bool:
    if response.status_code == httpx2.codes.FORBIDDEN:
        return bool(reasons_of(response) & RATE_REASONS)
    return response.status_code == httpx2.codes.TOO_MANY_REQUESTS or response.status_code >= 500


def _may_have_run(response: httpx2.Response) -> bool:
    """A server that failed may have done some of it; one that limits requests did nothing."""
    return response.status_code >= 500


def _retry_after(response: httpx2.Response) -> float | None:
    """The seconds to wait, as the server says in either form of the header."""
    value = response.headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


def _unreachable(call: _Call, error: httpx2.TransportError) -> ToolFailure:
    if call.idempotent or isinstance(error, _NOT_SENT):
        return ToolFailure("Google cannot be reached.", "Check the network and try again.")
    return ToolFailure(
        "The connection to Google was lost before its answer.",
        "The change may have been made: look before you try again.",
    )

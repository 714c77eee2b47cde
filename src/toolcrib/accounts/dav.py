"""An authenticated WebDAV connection for an account, within limits of time and size: retries, redirects,
which addresses get the password, and error messages of calendar servers.

All connections go through the network guard; the user's own server is its only exception. The password is
sent to the server that the user named, its subdomains and its provider's domain, never elsewhere and never
without TLS except to a private address.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from toolcrib.accounts.account import Account
from toolcrib.accounts.dav_xml import DavItem, body, element, properties, read_multistatus
from toolcrib.errors import AuthRequired, CallFailed, RemoteUnreachable, ToolcribError, UsageError
from toolcrib.serverkit.network.addresses import kind_of
from toolcrib.serverkit.network.policy import NetworkPolicy, is_address, shown

if TYPE_CHECKING:
    import httpx2

DEADLINE = 120.0
"""Seconds for one request, retries included."""
CONNECT = 20.0
"""Seconds to connect. An answer may take the whole time: a server reads a large calendar before it begins."""
MAX_BYTES = 64 * 1024 * 1024
ATTEMPTS = 3
REDIRECTS = 5
_SAFE = ("GET", "OPTIONS", "PROPFIND", "REPORT")
"""Repeating these changes nothing."""
_BUSY = (429, 502, 503, 504)


class DavFailed(CallFailed):
    """The server refused a request."""

    def __init__(self, message: str, status: int, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.status = status


@dataclass(frozen=True)
class DavAnswer:
    url: str
    status: int
    headers: Mapping[str, str]
    content: bytes


@contextlib.asynccontextmanager
async def open_dav(account: Account, secret: str) -> AsyncIterator[DavConnection]:
    """Connect lazily to the server of an account."""
    import httpx2

    from toolcrib.serverkit.network.client import open_client
    from toolcrib.serverkit.network.urls import endpoint_of

    url = account.text("url")
    check_server_url(url)
    policy = NetworkPolicy(allow_private=frozenset({endpoint_of(url)}), ports=None)
    async with open_client(policy, timeout=httpx2.Timeout(DEADLINE, connect=CONNECT)) as client:
        client.auth = httpx2.BasicAuth(account.user, secret)
        yield DavConnection(client, account, secret)


def check_server_url(url: str) -> None:
    """Raise `UsageError` for a URL that cannot be used, or would send the password unencrypted."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        raise UsageError(
            f"{shown(url)!r} is not the URL of a calendar server.",
            hint="For example https://cloud.example.org/ (without a user name in it).",
        )
    if parts.scheme == "http" and not _is_near(parts.hostname):
        raise UsageError(
            f"{parts.hostname} would get the password unencrypted.", hint="Use a URL that starts with https."
        )


def _is_near(host: str) -> bool:
    """A host of this machine or of a private network."""
    if is_address(host):
        return kind_of(host) in ("loopback", "private")
    return host == "localhost" or host.endswith((".local", ".localhost", ".lan", ".home.arpa"))


class DavConnection:
    """Requests to one server."""

    def __init__(self, client: httpx2.AsyncClient, account: Account, secret: str) -> None:
        self._client = client
        self._account = account
        self._secret = secret
        self._root = urlsplit(account.text("url"))

    @property
    def root(self) -> str:
        """The URL that the user gave."""
        return self._account.text("url")

    async def propfind(self, url: str, names: tuple[str, ...], depth: int = 0) -> list[DavItem]:
        """The properties of a resource, and with depth 1 of its children; `href` is absolute."""
        content = body(element("d:propfind", properties(names)))
        return await self._multistatus("PROPFIND", url, content, depth)

    async def report(self, url: str, content: bytes) -> list[DavItem]:
        """The result of a query; `href` is absolute."""
        return await self._multistatus("REPORT", url, content, 1)

    async def _multistatus(self, method: str, url: str, content: bytes, depth: int) -> list[DavItem]:
        headers = {"Depth": str(depth), "Content-Type": "application/xml; charset=utf-8"}
        answer = await self.request(method, url, content=content, headers=headers)
        if answer.status != 207:
            raise DavFailed(
                f"{self._host(answer.url)} is not a calendar server at this address.",
                answer.status,
                "Check the URL of the account.",
            )
        items = await asyncio.to_thread(read_multistatus, answer.content)
        return [DavItem(urljoin(answer.url, item.href), item.properties, item.status) for item in items]

    async def request(
        self,
        method: str,
        url: str,
        *,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> DavAnswer:
        """Send a request; raises `AuthRequired`, `DavFailed` or `RemoteUnreachable`."""
        target = urljoin(self.root, url)
        end = time.monotonic() + DEADLINE
        try:
            async with asyncio.timeout(DEADLINE):
                for _ in range(REDIRECTS):
                    answer = await self._send(method, target, content, dict(headers or {}), end)
                    location = answer.headers.get("location", "")
                    if answer.status not in (301, 302, 307, 308) or not location:
                        return self._accepted(answer)
                    target = urljoin(target, location)
        except TimeoutError:
            raise RemoteUnreachable(
                f"{self._host(target)} did not answer within {DEADLINE:g} s.", hint="Try again later."
            ) from None
        raise DavFailed(f"{self._host(target)} redirects too often.", 310, "Check the URL of the account.")

    async def _send(
        self, method: str, url: str, content: bytes | None, headers: dict[str, str], end: float
    ) -> DavAnswer:
        import httpx2

        self._check_target(url)
        for attempt in range(1, ATTEMPTS + 1):
            try:
                answer = await self._once(method, url, content, headers)
            except (httpx2.TransportError, httpx2.DecodingError) as error:
                if method in _SAFE and attempt < ATTEMPTS:
                    continue
                raise self._lost(method, url, error) from error
            if answer.status == 401 and self._switch_to_digest(answer):
                continue
            wait = _retry_after(answer)
            if answer.status not in _BUSY or attempt == ATTEMPTS or time.monotonic() + wait > end:
                return answer
            await asyncio.sleep(wait)
        return answer

    async def _once(
        self, method: str, url: str, content: bytes | None, headers: Mapping[str, str]
    ) -> DavAnswer:
        parts: list[bytes] = []
        size = 0
        async with self._client.stream(method, url, content=content, headers=headers) as response:
            async for chunk in response.aiter_bytes():
                size += len(chunk)
                if size > MAX_BYTES:
                    raise DavFailed(
                        f"{self._host(url)} sent more than {MAX_BYTES // 2**20} MiB.",
                        response.status_code,
                        "Ask for a shorter time.",
                    )
                parts.append(chunk)
        return DavAnswer(url, response.status_code, response.headers, b"".join(parts))

    def _check_target(self, url: str) -> None:
        """The password goes only to the user's own server."""
        parts = urlsplit(url)
        host, own = parts.hostname or "", self._root.hostname or ""
        domain = self._account.text("domain")
        near = host == own or host.endswith(f".{own}") or bool(domain and host.endswith(f".{domain}"))
        downgraded = self._root.scheme == "https" and parts.scheme != "https"
        moved = host == own and parts.scheme == "http" and parts.port != self._root.port
        if not near or downgraded or moved or parts.scheme not in ("http", "https"):
            raise DavFailed(
                f"{own} refers to {shown(self._host(url))}, which must not get the password.",
                403,
                "If this is right, add the account again with that URL.",
            )

    def _switch_to_digest(self, answer: DavAnswer) -> bool:
        """Some servers accept only digest authentication; true if the request is worth repeating."""
        import httpx2

        challenge = answer.headers.get("www-authenticate", "").lower()
        if "basic" in challenge or "digest" not in challenge:
            return False
        if isinstance(self._client.auth, httpx2.DigestAuth):
            return False
        self._client.auth = httpx2.DigestAuth(self._account.user, self._secret)
        return True

    def _accepted(self, answer: DavAnswer) -> DavAnswer:
        status = answer.status
        if status < 300:
            return answer
        host, name = self._host(answer.url), self._account.name
        if status == 401:
            raise AuthRequired(
                f"{host} did not accept the user name or password of the account {name}.",
                hint="Many providers need an app password. Add the account again: "
                f"toolcrib account add caldav {name} --replace",
            )
        if status in _BUSY or status >= 500:
            raise DavFailed(f"{host} cannot answer now (HTTP {status}).", status, "Try again later.")
        raise DavFailed(f"{host} refused the request (HTTP {status}).", status, _MEANINGS.get(status, ""))

    def _lost(self, method: str, url: str, error: Exception) -> ToolcribError:
        reason = shown(str(error) or type(error).__name__)
        if method in _SAFE:
            return RemoteUnreachable(
                f"{self._host(url)} cannot be reached: {reason}", hint="Check the network and the account."
            )
        return RemoteUnreachable(
            f"The connection to {self._host(url)} was lost: {reason}",
            hint="The change may have been made: look at the events before you try again.",
        )

    def _host(self, url: str) -> str:
        return urlsplit(url).netloc.rpartition("@")[2] or "The server"


_MEANINGS = {
    403: "The user may not have the right to do this in this calendar.",
    404: "It may have been deleted.",
    507: "The storage of the account is full.",
}


def _retry_after(answer: DavAnswer) -> float:
    """Seconds to wait before a retry."""
    given = answer.headers.get("retry-after", "")
    if given.isdigit():
        return float(given)
    with contextlib.suppress(ValueError, TypeError):
        return max(0.0, parsedate_to_datetime(given).timestamp() - time.time())
    return 1.0

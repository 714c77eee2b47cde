"""Signs the user in to a remote server: finds its issuer, registers, opens the page, and returns the tokens.

The protocol is the SDK's (discovery, client metadata documents and registration, PKCE, issuer checks); every
address is checked here, because a server could point us to a private network.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2

from toolcrib.errors import AuthRequired, UsageError
from toolcrib.servers.remote.client import open_client
from toolcrib.servers.remote.spec import RemoteSpec
from toolcrib.servers.signin.callback import Callback, listen
from toolcrib.servers.signin.credentials import Credentials
from toolcrib.servers.transport import LinkContext

PATIENCE = 600.0
"""Seconds the user has to sign in."""
_PROBE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "toolcrib", "version": "1"},
    },
}
OpenPage = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, kw_only=True)
class OAuthClient:
    """The client settings of the entry's `oauth` key."""

    client_id: str | None = None
    client_secret: str | None = None
    metadata_url: str | None = None
    """The URL of a client metadata document, for issuers that accept one instead of a registration."""
    scope: str | None = None
    port: int = 0
    """The registered loopback port for the redirect."""


async def sign_in(
    server: str,
    spec: RemoteSpec,
    open_page: OpenPage,
    *,
    client: OAuthClient | None = None,
    earlier: Credentials | None = None,
    patience: float = PATIENCE,
) -> Credentials:
    """Sign in; `open_page` shows the address to the user. Raises `AuthRequired` or `UsageError`."""
    client = client or OAuthClient()
    earlier = earlier if earlier is not None and earlier.fits(spec.url) else None
    try:
        async with asyncio.timeout(patience), listen(_port(client, earlier)) as callback:
            provider = await _provider(server, spec, client, earlier, callback, open_page)
            await _trigger(server, spec, provider)
            return _credentials(server, spec, provider, callback)
    except TimeoutError:
        raise AuthRequired(
            f"The sign-in to {server} was not completed within {patience:g} s.",
            hint=f"Try again: toolcrib login {server}",
        ) from None


async def _provider(
    server: str,
    spec: RemoteSpec,
    client: OAuthClient,
    earlier: Credentials | None,
    callback: Callback,
    open_page: OpenPage,
) -> Any:
    """The SDK's provider with our storage, page and port; imported only here."""

    def load() -> Any:
        from toolcrib.servers.signin import _sdk_provider

        return _sdk_provider

    module = await asyncio.to_thread(load)

    async def show(address: str) -> None:
        await check_address(address, spec.url)
        query = parse_qs(urlsplit(address).query)
        callback.expect(query.get("state", [None])[0])
        await open_page(address)

    return module.make_provider(
        url=spec.url,
        redirect_uri=callback.redirect_uri,
        client=client,
        registered=None if earlier is None else earlier.registered,
        show=show,
        come_back=callback.answer,
    )


async def _trigger(server: str, spec: RemoteSpec, provider: Any) -> None:
    """Send a request so that the server demands a sign-in, which the provider performs."""
    context = LinkContext(server=server, auth=_CheckedAuth(provider, spec.url))
    headers = {"Accept": "application/json, text/event-stream", **_plain(spec.headers)}
    try:
        async with (
            open_client(spec, context) as http,
            http.stream("POST", spec.url, json=_PROBE, headers=headers) as response,
        ):
            status = response.status_code
    except httpx2.RequestError as error:
        raise AuthRequired(
            f"{server} cannot be reached to sign in: {type(error).__name__}.", hint="Check its address."
        ) from error
    if provider.context.current_tokens is None:
        if status in (401, 403):
            raise AuthRequired(
                f"{server} offers no OAuth sign-in (HTTP {status}).", hint="Set its headers instead."
            )
        raise UsageError(f"{server} requires no sign-in (HTTP {status}).", hint="You can use it now.")


def _plain(headers: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() != "authorization"}


class _CheckedAuth(httpx2.Auth):
    """The provider, with every address checked first."""

    requires_response_body = True

    def __init__(self, inner: httpx2.Auth, server_url: str) -> None:
        self._inner = inner
        self._server_url = server_url

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        flow = self._inner.async_auth_flow(request)
        try:
            outgoing = await anext(flow)
            while True:
                if outgoing is not request:
                    await check_address(str(outgoing.url), self._server_url)
                response = yield outgoing
                outgoing = await flow.asend(response)
        except StopAsyncIteration:
            return
        finally:
            await flow.aclose()


def _port(client: OAuthClient, earlier: Credentials | None) -> int:
    """The port that the client is registered with, if any."""
    if client.port or earlier is None:
        return client.port
    return urlsplit(earlier.redirect_uri).port or 0


def _credentials(server: str, spec: RemoteSpec, provider: Any, callback: Callback) -> Credentials:
    context = provider.context
    tokens, registered = context.current_tokens, context.client_info
    metadata = context.oauth_metadata
    if tokens is None or registered is None:
        raise AuthRequired(
            f"The sign-in to {server} returned no token.", hint=f"Try again: toolcrib login {server}"
        )
    origin = urlsplit(spec.url)
    fallback = f"{origin.scheme}://{origin.netloc}"
    return Credentials(
        url=spec.url,
        issuer=str(metadata.issuer) if metadata is not None else fallback,
        token_endpoint=str(metadata.token_endpoint) if metadata is not None else f"{fallback}/token",
        client_id=registered.client_id,
        client_secret=registered.client_secret,
        client_auth=registered.token_endpoint_auth_method,
        redirect_uri=callback.redirect_uri,
        registered=json.dumps(registered.model_dump(mode="json", exclude_none=True)),
        access_token=tokens.access_token,
        refresh_token=tokens.refresh_token,
        expires_at=context.token_expiry_time,
        scope=tokens.scope,
        resource=context.get_resource_url() if context.protected_resource_metadata is not None else None,
    )


async def check_address(url: str, server_url: str) -> None:
    """Raise `AuthRequired` for an address that a server must not send us to.

    Allowed are https, or http if both are on this machine; a private network only if the server is in one.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    own = urlsplit(server_url)
    if parts.username or parts.password or parts.scheme not in ("http", "https") or not host:
        raise _refused(url)
    if (parts.scheme, parts.netloc) == (own.scheme, own.netloc):
        return
    addresses, ours = await _addresses(host), await _addresses(own.hostname or "")
    if parts.scheme == "http" and not (_all_loopback(addresses) and _all_loopback(ours)):
        raise _refused(url)
    if not all(_is_public(address) for address in addresses) and all(_is_public(address) for address in ours):
        raise _refused(url)


async def _addresses(host: str) -> set[str]:
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return set()
    return {str(entry[4][0]).partition("%")[0] for entry in found}


def _is_public(address: str) -> bool:
    parsed = ipaddress.ip_address(address)
    if isinstance(parsed, ipaddress.IPv6Address):
        inner = parsed.ipv4_mapped or parsed.sixtofour or _embedded(parsed)
        if inner is not None:
            return inner.is_global
    return parsed.is_global and not parsed.is_multicast


def _embedded(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address embedded for translation (64:ff9b::/96) or in the old compatible form (::/96)."""
    number = int(address)
    if number >> 32 in (0x64FF9B << 64, 0) and number > 1:
        return ipaddress.IPv4Address(number & 0xFFFFFFFF)
    return None


def _all_loopback(addresses: set[str]) -> bool:
    return bool(addresses) and all(ipaddress.ip_address(address).is_loopback for address in addresses)


def _refused(url: str) -> AuthRequired:
    origin = urlsplit(url)
    shown = f"{origin.scheme}://{origin.hostname}" if origin.hostname else url[:40]
    return AuthRequired(
        f"The sign-in was stopped: the server points to the unsafe address {shown}.",
        hint="Do not sign in to this server, or ask its operator.",
    )

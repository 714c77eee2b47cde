"""A person signs in to a remote server: finds its issuer, registers, opens the page, and keeps the tokens.

The protocol is the SDK's (discovery, client metadata documents and registration, PKCE, issuer checks); where
it may go is decided here.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2

from toolcrib.errors import AuthRequired, UsageError
from toolcrib.servers.link import LinkContext
from toolcrib.servers.remote.client import open_client
from toolcrib.servers.remote.spec import RemoteSpec
from toolcrib.servers.signin.addresses import check_address
from toolcrib.servers.signin.callback import Callback, listen
from toolcrib.servers.signin.credentials import Credentials

PATIENCE = 600.0
"""Seconds a person has for the page."""
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
class Client:
    """How we present ourselves, where the server's entry says so (its `oauth` key)."""

    client_id: str | None = None
    client_secret: str | None = None
    metadata_url: str | None = None
    """An address of a client metadata document, for issuers that take one instead of a registration."""
    scope: str | None = None
    port: int = 0
    """The port of loopback to come back to, where the client was registered with one."""


async def sign_in(
    server: str,
    spec: RemoteSpec,
    open_page: OpenPage,
    *,
    client: Client | None = None,
    earlier: Credentials | None = None,
    patience: float = PATIENCE,
) -> Credentials:
    """Let a person sign in; `open_page` shows them the address. Raises `AuthRequired` or `UsageError`."""
    client = client or Client()
    earlier = earlier if earlier is not None and earlier.fits(spec.url) else None
    try:
        async with asyncio.timeout(patience), listen(_port(client, earlier)) as callback:
            provider = await _provider(server, spec, client, earlier, callback, open_page)
            await _provoke(server, spec, provider)
            return _kept(server, spec, provider, callback)
    except TimeoutError:
        raise AuthRequired(
            f"Nobody signed in to {server} within {patience:g} s.", hint=f"Try again: toolcrib login {server}"
        ) from None


async def _provider(
    server: str,
    spec: RemoteSpec,
    client: Client,
    earlier: Credentials | None,
    callback: Callback,
    open_page: OpenPage,
) -> Any:
    """The SDK's provider with our storage, our page and our port; it is imported here and nowhere else."""

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


async def _provoke(server: str, spec: RemoteSpec, provider: Any) -> None:
    """Make the server ask for a sign-in; the provider answers it."""
    context = LinkContext(server=server, auth=_Watched(provider, spec.url))
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
                f"{server} offers no sign-in (HTTP {status}).", hint="Set its headers instead."
            )
        raise UsageError(f"{server} asks for no sign-in (HTTP {status}).", hint="It can be used as it is.")


def _plain(headers: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() != "authorization"}


class _Watched(httpx2.Auth):
    """The provider, with every address that it wants to go to looked at first."""

    requires_response_body = True

    def __init__(self, inner: httpx2.Auth, server_url: str) -> None:
        self._inner = inner
        self._server_url = server_url

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """As the provider's."""
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


def _port(client: Client, earlier: Credentials | None) -> int:
    """The one that the client is registered with, where there is one."""
    if client.port or earlier is None:
        return client.port
    return urlsplit(earlier.redirect_uri).port or 0


def _kept(server: str, spec: RemoteSpec, provider: Any, callback: Callback) -> Credentials:
    context = provider.context
    tokens, registered = context.current_tokens, context.client_info
    metadata = context.oauth_metadata
    if tokens is None or registered is None:
        raise AuthRequired(f"The sign-in to {server} gave no token.", hint=f"toolcrib login {server}")
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

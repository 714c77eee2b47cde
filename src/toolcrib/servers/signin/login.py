"""Signs the user in to a remote server: finds its issuer, registers, opens the page, and returns the tokens.

The protocol is the SDK's (discovery, client metadata documents and registration, PKCE, issuer checks). Its
requests to hosts that the server names go through the network guard, because they could lead to a private
network.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2

from toolcrib.errors import AuthRequired, UsageError
from toolcrib.serverkit.network.resolving import Resolver, system_resolver
from toolcrib.serverkit.redirect_listener import RedirectListener, listen
from toolcrib.servers.remote.client import SIGN_IN, check_named, open_client, same_origin
from toolcrib.servers.remote.spec import RemoteSpec, is_unencrypted
from toolcrib.servers.signin.credentials import Credentials, check_answer
from toolcrib.servers.signin.discovery import Discovery, redirect_path, split_page, with_query
from toolcrib.servers.transport import LinkContext

PATIENCE = 600.0
"""Seconds the user has to sign in."""
MAX_REDIRECTS = 3
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
OpenPage = Callable[[str, str], Awaitable[None]]
"""Shows the user the address of a page, and the issuer to whom it belongs."""


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
    hosts: Mapping[str, str] | None = None,
    patience: float = PATIENCE,
    resolve: Resolver = system_resolver,
) -> Credentials:
    """Sign in; `open_page` shows the address to the user. `hosts` are those that the user confirmed just now.

    Raises `AuthRequired`, `HostsNotConfirmed` or `UsageError`.
    """
    _check_encrypted(server, spec)
    client = client or OAuthClient()
    earlier = earlier if earlier is not None and earlier.fits(spec.url) else None
    try:
        async with asyncio.timeout(patience), listen(_port(client, earlier)) as callback:
            flow = _Flow(spec, client, callback, open_page, earlier)
            provider = await _provider(flow)
            accepted = hosts or (earlier.hosts if earlier is not None else {})
            flow.discovery = Discovery(server, provider.context, accepted, resolve)
            await _trigger(server, spec, _CheckedAuth(provider, flow), resolve)
            return _credentials(server, spec, flow)
    except TimeoutError:
        raise AuthRequired(
            f"The sign-in to {server} was not completed within {patience:g} s.",
            hint=f"Try again: toolcrib login {server}",
        ) from None


def _check_encrypted(server: str, spec: RemoteSpec) -> None:
    if is_unencrypted(spec.url) and not spec.allow_http:
        raise UsageError(
            f"{server} is reached over http, so its tokens would be sent unencrypted.",
            hint="Use its https address, or set `allowHttp` to true in its entry.",
        )


@dataclass
class _Flow:
    """One sign-in: what its steps share."""

    spec: RemoteSpec
    client: OAuthClient
    callback: RedirectListener
    open_page: OpenPage
    earlier: Credentials | None
    discovery: Discovery = field(init=False)

    def redirect_uri(self, issuer: str) -> str:
        """For this issuer only, unless the user registered the client there, with the usual address."""
        own = self.client.client_id or self.client.metadata_url
        if own and (self.earlier is None or self.earlier.client_id != own or self.earlier.issuer == issuer):
            return self.callback.redirect_uri
        return self.callback.redirect_uri + redirect_path(issuer)

    async def show(self, address: str) -> None:
        """Open the page, and expect the state that was made for it."""
        await self.discovery.check()
        endpoint, query = split_page(address, self.discovery.context.oauth_metadata)
        await check_named(endpoint, self.spec.url, self.discovery.resolve)
        given = parse_qs(query)
        self.callback.expect(given["state"][0], given["redirect_uri"][0])
        await self.open_page(with_query(endpoint, query), self.discovery.issuer)


async def _provider(flow: _Flow) -> Any:
    """The SDK's provider with our storage, page and port; imported only here."""

    def load() -> Any:
        from toolcrib.servers.signin import _sdk_provider

        return _sdk_provider

    module = await asyncio.to_thread(load)

    return module.make_provider(
        url=flow.spec.url,
        redirect_uri=flow.redirect_uri(flow.earlier.issuer if flow.earlier is not None else ""),
        client=flow.client,
        earlier=flow.earlier,
        show=flow.show,
        come_back=flow.callback.answer,
    )


async def _trigger(server: str, spec: RemoteSpec, auth: _CheckedAuth, resolve: Resolver) -> None:
    """Send a request so that the server demands a sign-in, which the provider performs."""
    context = LinkContext(server=server, auth=auth, resolve=resolve)
    given = {"Accept": "application/json, text/event-stream", **_plain(spec.headers)}
    headers = {name.encode(): value.encode() for name, value in given.items()}
    try:
        async with (
            open_client(spec, context) as http,
            http.stream("POST", spec.url, json=_PROBE, headers=headers) as response,
        ):
            status = response.status_code
    except httpx2.RequestError as error:
        raise AuthRequired(
            f"{server} cannot be reached to sign in: {error or type(error).__name__}",
            hint="Check its address.",
        ) from error
    if not auth.signed_in:
        if status in (401, 403):
            raise AuthRequired(
                f"{server} offers no OAuth sign-in (HTTP {status}).", hint="Set its headers instead."
            )
        raise UsageError(f"{server} requires no sign-in (HTTP {status}).", hint="You can use it now.")


def _plain(headers: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() != "authorization"}


class _CheckedAuth(httpx2.Auth):
    """The SDK's provider; its requests are marked, so that they go only to allowed hosts, within limits, and
    the answers are checked."""

    def __init__(self, provider: Any, flow: _Flow) -> None:
        self._provider = provider
        self._flow = flow
        self._redirects = 0

    @property
    def signed_in(self) -> bool:
        return self._provider.context.current_tokens is not None

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        flow = self._provider.async_auth_flow(request)
        try:
            outgoing = await anext(flow)
            while True:
                if outgoing is not request:
                    await self._before(outgoing)
                response = yield outgoing
                if outgoing is not request:
                    await self._after(outgoing, response)
                outgoing = await flow.asend(response)
        except StopAsyncIteration:
            return
        finally:
            await flow.aclose()

    async def _before(self, outgoing: httpx2.Request) -> None:
        outgoing.extensions[SIGN_IN] = True
        if outgoing.method != "GET":
            await outgoing.aread()  # What was sent must not be repeated by an error.
            await self._flow.discovery.check()
            return
        # The last of these requests goes to the issuer, whose redirect address a registration then names.
        self._provider.redirect_to(self._flow.redirect_uri(self._flow.discovery.issuer))

    async def _after(self, outgoing: httpx2.Request, response: httpx2.Response) -> None:
        await response.aread()
        if outgoing.method == "GET":
            self._flow.discovery.took(response)
        elif not self._follows(outgoing, response):
            check_answer(outgoing, response)

    def _follows(self, outgoing: httpx2.Request, response: httpx2.Response) -> bool:
        """Whether the SDK follows this redirect: within the origin, such as one that adds a slash."""
        if response.status_code not in (307, 308) or response.next_request is None:
            return False
        self._redirects += 1
        return self._redirects <= MAX_REDIRECTS and same_origin(response.next_request.url, outgoing.url)


def _port(client: OAuthClient, earlier: Credentials | None) -> int:
    """The port that the client is registered with, if any."""
    if client.port or earlier is None:
        return client.port
    return urlsplit(earlier.redirect_uri).port or 0


def _credentials(server: str, spec: RemoteSpec, flow: _Flow) -> Credentials:
    context = flow.discovery.context
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
        redirect_uri=flow.redirect_uri(flow.discovery.issuer),
        registered=json.dumps(registered.model_dump(mode="json", exclude_none=True)),
        access_token=tokens.access_token,
        refresh_token=tokens.refresh_token,
        expires_at=context.token_expiry_time,
        scope=tokens.scope,
        resource=context.get_resource_url() if context.protected_resource_metadata is not None else None,
        hosts=flow.discovery.confirmed,
    )

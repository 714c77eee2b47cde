"""Signs the user in to a remote server: finds its issuer, registers, opens the page, and returns the tokens.
Has the time for a sign-in, the checks of the issuer and its hosts, and the errors for them.

The protocol is the SDK's (discovery, client metadata documents and registration, PKCE, issuer checks). Its
requests to hosts that the server names go through the network guard, because they could lead to a private
network.

The metadata that a sign-in found is checked before anything is registered or opened. The author of the
metadata decides where the user agrees and where the code of that consent is sent. A code of one issuer must
not reach another one, so all addresses have one host, or the user confirms each host.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote_plus, urlsplit

import httpx2

from toolcrib.errors import AuthRequired, HostsNotConfirmed, UsageError
from toolcrib.serverkit.network.policy import is_address
from toolcrib.serverkit.network.resolving import Resolver, system_resolver
from toolcrib.serverkit.network.urls import raw_host
from toolcrib.serverkit.redirect_listener import RedirectListener, listen
from toolcrib.servers.remote.client import SIGN_IN, check_named, open_client, same_origin
from toolcrib.servers.remote.spec import RemoteSpec, is_unencrypted
from toolcrib.servers.signin.credentials import Credentials, check_answer
from toolcrib.servers.transport import LinkContext

PKCE = "S256"
_ENDPOINTS = {
    "page": "authorization_endpoint",
    "token": "token_endpoint",
    "registration": "registration_endpoint",
    "revocation": "revocation_endpoint",
}
_RESERVED = frozenset(
    {
        "acr_values",
        "authorization_details",
        "claims",
        "client_assertion",
        "client_assertion_type",
        "client_id",
        "client_secret",
        "code",
        "code_challenge",
        "code_challenge_method",
        "code_verifier",
        "display",
        "dpop_jkt",
        "error",
        "grant_type",
        "id_token_hint",
        "iss",
        "login_hint",
        "max_age",
        "nonce",
        "prompt",
        "redirect_uri",
        "refresh_token",
        "registration",
        "request",
        "request_uri",
        "resource",
        "response_mode",
        "response_type",
        "scope",
        "state",
    }
)
"""Parameters of an authorization request or its answer: an issuer's own query must not set them."""

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


class Discovery:
    """Follows the requests of one sign-in, and checks what they found.

    `context` is the SDK's: it adopts the metadata that is valid and skips what is not.
    """

    def __init__(self, server: str, context: Any, accepted: Mapping[str, str], resolve: Resolver) -> None:
        self._server = server
        self.context = context
        self._accepted = accepted
        self.resolve = resolve
        self._statuses: list[int] = []
        self._documents = 0
        self._checked = False
        self.confirmed: dict[str, str] = {}
        """The hosts that the user confirmed, by their part in the sign-in."""

    @property
    def issuer(self) -> str:
        """The issuer that the metadata must be of: named by the server, or the server's own origin."""
        parts = urlsplit(self.context.server_url)
        return self.context.auth_server_url or f"{parts.scheme}://{parts.netloc}"

    def took(self, response: httpx2.Response) -> None:
        """Note a response to a request for metadata."""
        self._statuses.append(response.status_code)
        self._documents += response.is_success and _is_object(response.content)

    async def check(self) -> None:
        """Raise `AuthRequired` if what was found must not be used; before the first registration or page."""
        if not self._checked:
            await self._check()
            self._checked = True

    async def _check(self) -> None:
        metadata = self.context.oauth_metadata
        adopted = [self.context.protected_resource_metadata, metadata]
        if self._documents > sum(document is not None for document in adopted):
            raise _stopped("the metadata of the server or its issuer is invalid")
        if metadata is None:
            self._check_absent()
            return
        if PKCE not in (metadata.code_challenge_methods_supported or ()):
            raise _stopped("the issuer does not say that it supports PKCE with S256")
        if metadata.registration_endpoint is None and self.context.client_info is None:
            raise AuthRequired(
                f"The issuer of {self._server} does not allow registration.",
                hint="Register a client there yourself, and set `oauth.clientId` in the entry.",
            )
        _check_query(str(metadata.authorization_endpoint))
        await self._check_hosts(metadata)

    def _check_absent(self) -> None:
        """The default addresses of 2025-03-26 are for servers that have no metadata at all."""
        if self.context.auth_server_url is not None:
            raise _stopped(f"the issuer {_origin(self.issuer)} has no valid metadata")
        if any(status != httpx2.codes.NOT_FOUND for status in self._statuses):
            raise _stopped("the metadata of the server cannot be read")

    async def _check_hosts(self, metadata: Any) -> None:
        named = {part: getattr(metadata, field) for part, field in _ENDPOINTS.items()}
        addresses = {part: str(address) for part, address in named.items() if address is not None}
        for address in {_origin(address): address for address in addresses.values()}.values():
            await check_named(address, self.context.server_url, self.resolve)
        if all(belongs(address, self.issuer) for address in addresses.values()):
            return
        hosts = {part: _origin(address) for part, address in {"issuer": self.issuer, **addresses}.items()}
        if hosts != self._accepted:
            raise _unconfirmed(self._server, self.context.server_url, hosts)
        self.confirmed = hosts


def redirect_path(issuer: str) -> str:
    """A path for each issuer: a client that is registered with one of them is of no use to another."""
    return f"/{hashlib.sha256(issuer.rstrip('/').encode()).hexdigest()[:24]}"


def split_page(address: str, metadata: Any) -> tuple[str, str]:
    """The endpoint and our query in the address of a page: the SDK joins them with `?` in any case."""
    endpoint = address.partition("?")[0] if metadata is None else str(metadata.authorization_endpoint)
    return endpoint, address.removeprefix(endpoint).removeprefix("?")


def with_query(endpoint: str, query: str) -> str:
    """The address of the page, also if it has a query of its own."""
    return f"{endpoint}{'&' if '?' in endpoint else '?'}{query}"


def _is_object(content: bytes) -> bool:
    try:
        return isinstance(json.loads(content), dict)
    except (ValueError, RecursionError):
        return False


def _check_query(endpoint: str) -> None:
    parts = urlsplit(endpoint)
    names = {unquote_plus(pair.partition("=")[0]).strip().lower() for pair in re.split("[&;]", parts.query)}
    if "#" in endpoint or names & _RESERVED:
        raise _stopped("the address of the issuer's page sets parameters of the sign-in itself")


def belongs(address: str, issuer: str) -> bool:
    """Whether it is at the issuer's host or below it.

    Above or beside may be somebody else's: without a list of public suffixes, nobody can tell whether
    `a.example.com` and `b.example.com` are two customers of example.com.
    """
    one, other = httpx2.URL(address), httpx2.URL(issuer)
    if (one.scheme, one.port) != (other.scheme, other.port):
        return False
    host, parent = raw_host(one), raw_host(other)
    return host == parent or ("." in parent and not is_address(parent) and host.endswith(f".{parent}"))


def _origin(address: str) -> str:
    """Scheme, host and port; a host in its ASCII form, in which no letter looks like another."""
    url = httpx2.URL(address)
    return f"{url.scheme}://{url.netloc.decode('ascii')}"


def _stopped(why: str) -> AuthRequired:
    return AuthRequired(f"The sign-in was stopped: {why}.", hint="Ask the server's operator.")


def _unconfirmed(server: str, url: str, hosts: Mapping[str, str]) -> HostsNotConfirmed:
    others = {part: hosts[part] for part in ("registration", "revocation") if part in hosts}
    more = "".join(f", its {part} address is at {host}" for part, host in others.items())
    return HostsNotConfirmed(
        f"{server} ({_origin(url)}) would sign you in through several hosts: its issuer is {hosts['issuer']},"
        f" you agree at {hosts['page']}, and the code of your consent is sent to {hosts['token']}{more}."
        f" If they do not belong together, {hosts['token']} could use your account at {hosts['page']}.",
        hint=f"If you know that they do, confirm it: `toolcrib login {server}` asks on a terminal.",
        data=dict(hosts),
    )


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

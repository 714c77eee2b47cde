"""The HTTP client of one remote server: connect timeout, TLS certificates, environment proxies, sign-in, and
which addresses a server may point to.

Connecting has a timeout; reading has none, because the caller has one.

The user typed the server's URL, so any address is fine there. Other origins come from the server (its OAuth
metadata), so they are checked when connecting: public hosts and those of the server's own network are
allowed. Proxies of the environment are used, except for loopback. TCP keep-alive detects dead connections.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, replace

import httpx2

from toolcrib.errors import AuthRequired, ConfigError, FetchFailed, NetworkRefused, ToolcribError
from toolcrib.serverkit.network.addresses import AddressKind, kind_of
from toolcrib.serverkit.network.client import GuardedTransport
from toolcrib.serverkit.network.fetching import read_body
from toolcrib.serverkit.network.limits import FetchLimits
from toolcrib.serverkit.network.policy import NetworkPolicy, is_address, shown
from toolcrib.serverkit.network.resolving import Resolver, system_resolver
from toolcrib.serverkit.network.short_reads import read_in_short_steps
from toolcrib.serverkit.network.urls import environment_proxy, is_local, origin, parse_url, port_of, raw_host
from toolcrib.servers.remote.spec import RemoteSpec
from toolcrib.servers.transport import LinkContext

IDLE_CONNECTION_SECONDS = 4.0
"""Below the 5 s after which uvicorn and Node close an idle connection: reusing it would lose a call."""
SIGN_IN = "toolcrib.sign_in"
"""The extension of a request that belongs to a sign-in, so that its response has limits."""
SIGN_IN_LIMITS = FetchLimits(max_bytes=1024 * 1024, deadline=30.0)

_TCP_KEEP_ALIVE = [
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    *(
        (socket.IPPROTO_TCP, getattr(socket, name), value)
        for name, value in (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 15), ("TCP_KEEPCNT", 4))
        if hasattr(socket, name)
    ),
]

logger = logging.getLogger(__name__)

CONNECT_TIMEOUT = 10.0


async def check_named(url: str, server_url: str, resolve: Resolver = system_resolver) -> None:
    """Raise `AuthRequired` for an address that a server must not send the user's browser to."""
    server = httpx2.URL(server_url)
    policies = named_policies(server, resolve)
    policy = policies.get(url.partition(":")[0].lower())
    if policy is None:
        raise refused(url)
    try:
        parsed = parse_url(url, policy)
        if not same_origin(parsed, server):
            await policy.addresses(raw_host(parsed), port_of(parsed))
    except NetworkRefused as error:
        raise refused(url) from error
    except FetchFailed as error:
        if environment_proxy(httpx2.URL(url)) is None:  # else only the proxy may be able to look names up
            raise refused(url) from error


def named_policies(server: httpx2.URL, resolve: Resolver = system_resolver) -> Mapping[str, NetworkPolicy]:
    """What a server may point to, by scheme: https in public networks and in its own kind of network, http
    only on this machine and only if the server is there too."""
    here: frozenset[AddressKind] = frozenset({"loopback"}) if is_local(server.host) else frozenset()
    plain = NetworkPolicy(ports=None, kinds=here, resolve=resolve)
    secure = _OwnNetworkPolicy(ports=None, kinds=here | {"public"}, resolve=resolve, server=raw_host(server))
    return {"http": plain, "https": secure}


@dataclass(frozen=True)
class _OwnNetworkPolicy(NetworkPolicy):
    """Allows private addresses if the server has one itself.

    The owner of a name could let it lead to a private network for the moment of this check. That gains
    nothing, as https needs a certificate for the host there. On this machine http is enough, so loopback
    counts only by the server's spelling (`is_local`).
    """

    server: str = ""

    async def addresses(self, host: str, port: int) -> list[str]:
        policy = NetworkPolicy(ports=self.ports, kinds=self.kinds, resolve=self.resolve)
        if await self._is_private():
            policy = replace(policy, kinds=self.kinds | {"private"})
        return await policy.addresses(host, port)

    async def _is_private(self) -> bool:
        try:
            found = [self.server] if is_address(self.server) else await self.resolve(self.server, 443)
        except (OSError, UnicodeError):
            return False
        return bool(found) and all(kind_of(address) == "private" for address in found)


def same_origin(one: httpx2.URL, other: httpx2.URL) -> bool:
    """Whether scheme, host and port are equal."""
    return (one.scheme, one.raw_host, one.port) == (other.scheme, other.raw_host, other.port)


def refused(url: str) -> AuthRequired:
    """The error for an address that a server must not point to; without the path, which may hold a secret."""
    try:
        parsed = httpx2.URL(url)
        where = origin(parsed) if parsed.host else shown(url, 40)
    except httpx2.InvalidURL:
        where = shown(url, 40)
    return AuthRequired(
        f"The sign-in was stopped: the server points to the unsafe address {where}.",
        hint="Do not sign in to this server, or ask its operator.",
    )


class RoutedTransport(httpx2.AsyncBaseTransport):
    """Sends a request on the connections that its origin may use."""

    def __init__(
        self,
        url: httpx2.URL,
        tls: ssl.SSLContext,
        resolve: Resolver = system_resolver,
        *,
        sign_in: bool = True,
    ) -> None:
        self._url = url
        self._own = _own_transport(url, tls)
        policies = named_policies(url, resolve) if sign_in else {}
        self._others = {
            scheme: GuardedTransport(policy, tls=tls, proxies=True) for scheme, policy in policies.items()
        }

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        own = same_origin(request.url, self._url)
        if own and SIGN_IN not in request.extensions:
            return await self._own.handle_async_request(request)
        transport = self._own if own else self._others.get(request.url.scheme)
        if transport is None:
            raise refused(str(request.url))
        try:
            async with asyncio.timeout(SIGN_IN_LIMITS.deadline):
                return await _limited(transport, request)
        except NetworkRefused as error:
            raise refused(str(request.url)) from error
        except FetchFailed as error:  # perhaps only for now, so no new sign-in is needed
            raise httpx2.ConnectError(error.message, request=request) from error
        except TimeoutError:
            raise httpx2.ReadTimeout("no answer in time", request=request) from None

    async def aclose(self) -> None:
        for transport in (self._own, *self._others.values()):
            await transport.aclose()


def _own_transport(url: httpx2.URL, tls: ssl.SSLContext) -> httpx2.AsyncHTTPTransport:
    limits = httpx2.Limits(
        max_connections=None, max_keepalive_connections=20, keepalive_expiry=IDLE_CONNECTION_SECONDS
    )
    proxy = environment_proxy(url)
    if proxy is not None:
        return read_in_short_steps(httpx2.AsyncHTTPTransport(verify=tls, limits=limits, proxy=proxy))
    transport = httpx2.AsyncHTTPTransport(verify=tls, limits=limits, socket_options=_TCP_KEEP_ALIVE)
    return read_in_short_steps(transport)


async def _limited(transport: httpx2.AsyncBaseTransport, request: httpx2.Request) -> httpx2.Response:
    """The response with its whole body, read within limits."""
    response = await transport.handle_async_request(request)
    response.request = request
    try:
        body = await read_body(response, SIGN_IN_LIMITS)
    finally:
        await response.aclose()
    headers = httpx2.Headers(response.headers)
    for name in ("content-encoding", "content-length", "transfer-encoding"):
        headers.pop(name, None)
    return httpx2.Response(response.status_code, headers=headers, content=body)


def open_client(spec: RemoteSpec, context: LinkContext) -> httpx2.AsyncClient:
    """A client with its own connections, to be used as a context manager."""
    url = httpx2.URL(spec.url)
    tls = _tls(spec, url, context)
    auth = None if context.auth is None else _GuardedAuth(context.auth, context.server)
    try:
        return httpx2.AsyncClient(
            auth=auth,
            headers={"User-Agent": "toolcrib"},
            transport=RoutedTransport(url, tls, context.resolve, sign_in=auth is not None),
            timeout=httpx2.Timeout(None, connect=CONNECT_TIMEOUT),
            trust_env=False,
        )
    except (ValueError, ImportError) as error:
        raise ConfigError(
            f"The proxy settings of the environment are invalid: {error}",
            hint="Check HTTPS_PROXY, HTTP_PROXY and ALL_PROXY; for SOCKS, `pip install httpx2[socks]`.",
        ) from error


class _GuardedAuth(httpx2.Auth):
    """Turns any error of a sign-in into `AuthRequired`; network errors pass unchanged."""

    def __init__(self, inner: httpx2.Auth, server: str) -> None:
        self._inner = inner
        self._server = server

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        flow = self._inner.async_auth_flow(request)
        try:
            outgoing = await self._step(flow, None)
            while outgoing is not None:
                outgoing = await self._step(flow, (yield outgoing))
        finally:
            await flow.aclose()

    async def _step(
        self, flow: AsyncGenerator[httpx2.Request, httpx2.Response], response: httpx2.Response | None
    ) -> httpx2.Request | None:
        try:
            return await (flow.__anext__() if response is None else flow.asend(response))
        except StopAsyncIteration:
            return None
        except ToolcribError:
            raise
        except Exception as error:  # third-party code without a common error class
            logger.debug("sign-in to %s failed", self._server, exc_info=True)
            raise AuthRequired(
                f"The sign-in to {self._server} failed: {shown(str(error), 300)}",
                hint="Sign in to the server again.",
            ) from error


def _tls(spec: RemoteSpec, url: httpx2.URL, context: LinkContext) -> ssl.SSLContext:
    if isinstance(spec.verify, str):
        try:
            return ssl.create_default_context(cafile=spec.verify)
        except (OSError, ssl.SSLError) as error:
            raise ConfigError(
                f"The certificate file {spec.verify!r} of {context.server} is invalid: {error}",
                hint="Set `verify` to true, false, or the path of a PEM file.",
            ) from error
    if spec.verify and url.scheme == "http" and context.auth is None:
        # TLS is not used here, and loading the system's certificates takes 30 ms.
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return httpx2.create_ssl_context(verify=spec.verify)

"""The connections of one remote server: to itself as the user set it up, to all others through the guard.

The user typed the server's URL, so any address is fine there. Other origins come from the server (its OAuth
metadata), so they are checked when connecting. Proxies of the environment are used, except for loopback. TCP
keep-alive detects dead connections.
"""

from __future__ import annotations

import asyncio
import socket
import ssl

import httpx2

from toolcrib.errors import FetchFailed, NetworkRefused
from toolcrib.serverkit.network.client import GuardedTransport
from toolcrib.serverkit.network.fetching import FetchLimits, read_body
from toolcrib.serverkit.network.proxies import environment_proxy
from toolcrib.serverkit.network.resolving import Resolver, system_resolver
from toolcrib.serverkit.network.short_reads import read_in_short_steps
from toolcrib.servers.remote.named_hosts import named_policies, refused, same_origin

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

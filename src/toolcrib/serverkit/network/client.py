"""An HTTP client whose connections go only to checked addresses, or through the user's own proxy. User agent,
number of connections, and when the next address is tried.

The check is part of connecting: a name is looked up once, every address is checked, and the connection goes
to one of them. A DNS server that answers differently the second time gains nothing.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import ssl
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping

import anyio
import httpcore2
import httpx2

from toolcrib.errors import FetchFailed, NetworkRefused
from toolcrib.serverkit.network.policy import NetworkPolicy
from toolcrib.serverkit.network.short_reads import ShortReads, read_in_short_steps
from toolcrib.serverkit.network.urls import check_url, environment_proxy, port_of, raw_host

NEXT_ADDRESS_AFTER = 0.25
"""Seconds until the next address is tried as well, as RFC 8305 recommends."""
_Options = Iterable[httpcore2.SOCKET_OPTION] | None

DEFAULT_LIMITS = httpx2.Limits(max_connections=20, max_keepalive_connections=5, keepalive_expiry=4.0)

USER_AGENT = "toolcrib"
_NOT_SENT = "the request has a header that cannot be sent"


class GuardedBackend(httpcore2.AsyncNetworkBackend):
    """The connections of a client; raises `NetworkRefused` for addresses that the policy does not allow."""

    def __init__(self, policy: NetworkPolicy) -> None:
        self._policy = policy
        self._inner = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: _Options = None,
    ) -> httpcore2.AsyncNetworkStream:
        try:
            with anyio.fail_after(timeout):
                addresses = await self._policy.addresses(host, port)
                return await self._first_of(_interleaved(addresses), port, local_address, socket_options)
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout(error) from error

    async def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: _Options = None
    ) -> httpcore2.AsyncNetworkStream:
        raise NetworkRefused("Local sockets are not allowed.", hint="Use an http or https URL.")

    async def sleep(self, seconds: float) -> None:
        await self._inner.sleep(seconds)

    async def _first_of(
        self, addresses: list[str], port: int, local_address: str | None, options: _Options
    ) -> httpcore2.AsyncNetworkStream:
        """The first connection that opens; a host with a broken address costs little time."""
        opened: list[httpcore2.AsyncNetworkStream] = []
        errors: list[httpcore2.ConnectError] = []

        async def attempt(address: str, ended: anyio.Event) -> None:
            try:
                opened.append(await self._inner.connect_tcp(address, port, None, local_address, options))
                group.cancel_scope.cancel()
            except httpcore2.ConnectError as error:
                errors.append(error)
            finally:
                ended.set()

        try:
            async with anyio.create_task_group() as group:
                for address in addresses:
                    ended = anyio.Event()
                    group.start_soon(attempt, address, ended)
                    with anyio.move_on_after(NEXT_ADDRESS_AFTER):
                        await ended.wait()
            if not opened:
                raise errors[0]
            return opened.pop(0)
        finally:
            for surplus in opened:
                await surplus.aclose()


def _interleaved(addresses: list[str]) -> list[str]:
    """Alternately of the first address's family and of the other one, as one family may not work at all."""
    first = [address for address in addresses if (":" in address) == (":" in addresses[0])]
    other = [address for address in addresses if address not in first]
    pairs = itertools.zip_longest(first, other)
    return [address for pair in pairs for address in pair if address is not None]


def open_client(
    policy: NetworkPolicy,
    *,
    timeout: float | httpx2.Timeout = 30.0,
    headers: Mapping[str, str] | None = None,
    limits: httpx2.Limits | None = None,
    tls: ssl.SSLContext | None = None,
    proxies: bool = False,
) -> httpx2.AsyncClient:
    """A client for `async with`, which does not follow redirects.

    With `proxies`, those of the environment are used: the name is checked first, and the proxy connects.
    """
    fields = httpx2.Headers({"User-Agent": USER_AGENT})
    fields.update(headers)
    transport = GuardedTransport(policy, limits=limits or DEFAULT_LIMITS, tls=tls, proxies=proxies)
    return httpx2.AsyncClient(
        transport=transport,
        event_hooks={"response": [_check_location]},
        timeout=timeout,
        headers=fields,
        follow_redirects=False,
        trust_env=False,
    )


async def _check_location(response: httpx2.Response) -> None:
    """Raise `RemoteProtocolError` for a redirect on which httpx2 would fail with `InvalidURL`."""
    if not response.has_redirect_location:
        return
    try:
        location = httpx2.URL(response.headers["location"])
        valid = bool(location.host) or not location.scheme
    except httpx2.InvalidURL:
        valid = False
    if not valid:
        raise httpx2.RemoteProtocolError("The response has an invalid redirect.", request=response.request)


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Checks each URL, and each address at connect; raises `NetworkRefused` or `FetchFailed`."""

    def __init__(
        self,
        policy: NetworkPolicy,
        *,
        limits: httpx2.Limits = DEFAULT_LIMITS,
        tls: ssl.SSLContext | None = None,
        proxies: bool = False,
    ) -> None:
        self._policy = policy
        self._proxied = _ProxiedTransport(policy, limits, tls) if proxies else None
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=tls or _default_tls(),
            max_connections=limits.max_connections,
            max_keepalive_connections=limits.max_keepalive_connections,
            keepalive_expiry=limits.keepalive_expiry,
            network_backend=ShortReads(GuardedBackend(policy)),
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        check_url(request.url, self._policy)
        proxy = environment_proxy(request.url) if self._proxied else None
        if self._proxied and proxy:
            return await self._proxied.send(request, proxy)
        with _translated_errors(request):
            response = await self._pool.handle_async_request(_outgoing(request))
        return httpx2.Response(
            response.status,
            headers=response.headers,
            stream=_Body(response, request),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        await self._pool.aclose()
        if self._proxied:
            await self._proxied.aclose()


class _ProxiedTransport:
    """Requests through proxies, which look names up again; a name that is known here is checked first."""

    def __init__(self, policy: NetworkPolicy, limits: httpx2.Limits, tls: ssl.SSLContext | None) -> None:
        self._policy = policy
        self._limits = limits
        self._tls = tls
        self._transports: dict[str, httpx2.AsyncHTTPTransport] = {}

    async def send(self, request: httpx2.Request, proxy: str) -> httpx2.Response:
        with contextlib.suppress(FetchFailed):  # in some networks only the proxy can look names up
            await self._policy.addresses(raw_host(request.url), port_of(request.url))
        if proxy not in self._transports:
            self._transports[proxy] = self._open(proxy)
        return await self._transports[proxy].handle_async_request(request)

    async def aclose(self) -> None:
        for transport in self._transports.values():
            await transport.aclose()

    def _open(self, proxy: str) -> httpx2.AsyncHTTPTransport:
        tls = self._tls or _default_tls()
        return read_in_short_steps(httpx2.AsyncHTTPTransport(verify=tls, limits=self._limits, proxy=proxy))


def _outgoing(request: httpx2.Request) -> httpcore2.Request:
    assert isinstance(request.stream, httpx2.AsyncByteStream)
    url = httpcore2.URL(
        scheme=request.url.raw_scheme,
        host=request.url.raw_host,
        port=request.url.port,
        target=request.url.raw_path,
    )
    return httpcore2.Request(
        request.method,
        url,
        headers=request.headers.raw,
        content=request.stream,
        extensions=request.extensions,
    )


class _Body(httpx2.AsyncByteStream):
    def __init__(self, response: httpcore2.Response, request: httpx2.Request) -> None:
        self._response = response
        self._request = request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _translated_errors(self._request):
            async for chunk in self._response.aiter_stream():
                yield chunk

    async def aclose(self) -> None:
        await self._response.aclose()


@contextlib.contextmanager
def _translated_errors(request: httpx2.Request) -> Iterator[None]:
    """Errors of httpcore2 as those of httpx2, which have the same names."""
    try:
        yield
    except httpcore2.LocalProtocolError:
        # Its text quotes headers, which may be credentials.
        raise httpx2.LocalProtocolError(_NOT_SENT, request=request) from None
    except (
        httpcore2.TimeoutException,
        httpcore2.NetworkError,
        httpcore2.ProtocolError,
        httpcore2.UnsupportedProtocol,
    ) as error:
        raise getattr(httpx2, type(error).__name__)(str(error), request=request) from error


@functools.cache
def _default_tls() -> ssl.SSLContext:
    """One for all clients: loading the system's certificates takes 30 ms."""
    return httpx2.create_ssl_context()

"""The HTTP client of one remote server: address, TLS, proxy and sign-in.

Proxies of the environment are used, except for loopback. TCP keep-alive detects dead connections. Connecting
has a timeout; reading has none, because the caller has one.
"""

from __future__ import annotations

import ipaddress
import logging
import socket
import ssl
from collections.abc import AsyncGenerator
from urllib.request import getproxies, proxy_bypass

import httpx2

from toolcrib.errors import AuthRequired, ConfigError, ToolcribError
from toolcrib.servers.remote.spec import RemoteSpec
from toolcrib.servers.transport import LinkContext

logger = logging.getLogger(__name__)

CONNECT_TIMEOUT = 10.0
IDLE_CONNECTION_SECONDS = 4.0
"""Below the 5 s after which uvicorn and Node close an idle connection: reusing it would lose a call."""

_TCP_KEEP_ALIVE = [
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    *(
        (socket.IPPROTO_TCP, getattr(socket, name), value)
        for name, value in (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 15), ("TCP_KEEPCNT", 4))
        if hasattr(socket, name)
    ),
]


def open_client(spec: RemoteSpec, context: LinkContext) -> httpx2.AsyncClient:
    """A client with its own connections, to be used as a context manager."""
    url = httpx2.URL(spec.url)
    tls = _tls(spec, url, context)
    limits = httpx2.Limits(
        max_connections=None, max_keepalive_connections=20, keepalive_expiry=IDLE_CONNECTION_SECONDS
    )
    mounts: dict[str, httpx2.AsyncBaseTransport | None] = dict.fromkeys(
        ("all://localhost", "all://127.0.0.1", "all://[::1]")  # never through a proxy
    )
    if _goes_direct(url):
        # Socket options are possible only without a proxy.
        mounts[f"{url.scheme}://{url.netloc.decode()}"] = httpx2.AsyncHTTPTransport(
            verify=tls, limits=limits, socket_options=_TCP_KEEP_ALIVE
        )
    try:
        return httpx2.AsyncClient(
            auth=None if context.auth is None else _GuardedAuth(context.auth, context.server),
            headers={"User-Agent": "toolcrib"},
            verify=tls,
            limits=limits,
            mounts=mounts,
            timeout=httpx2.Timeout(None, connect=CONNECT_TIMEOUT),
            # All proxies are set up at once, so an unusable one would fail even here.
            trust_env=not (_is_loopback(url.host) and context.auth is None),
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
                f"The sign-in to {self._server} failed: {error}", hint="Sign in to the server again."
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


def _goes_direct(url: httpx2.URL) -> bool:
    if _is_loopback(url.host):
        return True
    proxies = getproxies()
    return not (proxies.get(url.scheme) or proxies.get("all")) or bool(proxy_bypass(url.host))


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False

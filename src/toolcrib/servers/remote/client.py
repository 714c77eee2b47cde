"""The HTTP client of one remote server: address, TLS and sign-in.

Connecting has a timeout; reading has none, because the caller has one.
"""

from __future__ import annotations

import logging
import ssl
from collections.abc import AsyncGenerator

import httpx2

from toolcrib.errors import AuthRequired, ConfigError, ToolcribError
from toolcrib.serverkit.network.policy import shown
from toolcrib.servers.remote.routes import RoutedTransport
from toolcrib.servers.remote.spec import RemoteSpec
from toolcrib.servers.transport import LinkContext

logger = logging.getLogger(__name__)

CONNECT_TIMEOUT = 10.0


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

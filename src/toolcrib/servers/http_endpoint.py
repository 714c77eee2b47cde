"""One remote address: requests to it, and to nowhere else, with its own headers and sign-in.

Redirects are followed within the origin only, so no header and no sign-in of one server ever reaches another.
Whatever goes wrong below HTTP, and whatever status refuses a request, becomes an error of ours that says what
happened. It knows nothing of MCP's messages.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from typing import Any

import httpx2
from pydantic_core import from_json

from toolcrib.errors import (
    AuthRequired,
    ConnectionLost,
    PeerError,
    RemoteUnreachable,
    ResultTooLarge,
    ToolcribError,
)
from toolcrib.servers.event_stream import Event, EventStreamReader, EventTooLarge
from toolcrib.servers.http_client import RemoteSpec, open_client
from toolcrib.servers.link import LinkContext

MAX_REDIRECTS = 5
MAX_REFUSAL_BYTES = 1024 * 1024
LONGEST_REASON = 200
INVALID_REQUEST = -32600


class Endpoint:
    """Sends requests to one origin and turns every failure into an error of ours."""

    def __init__(self, client: httpx2.AsyncClient, spec: RemoteSpec, server: str) -> None:
        self.url = httpx2.URL(spec.url)
        self.server = server
        self._client = client
        self._headers = dict(spec.headers)

    @contextlib.asynccontextmanager
    async def exchange(
        self,
        method: str,
        headers: dict[str, str],
        content: bytes | None = None,
        *,
        url: httpx2.URL | None = None,
    ) -> AsyncIterator[httpx2.Response]:
        """One request and its response, whatever its status; leaving closes the response's stream."""
        response = await self._send(method, url or self.url, headers, content)
        try:
            yield response
        finally:
            await response.aclose()

    async def chunks(self, response: httpx2.Response) -> AsyncGenerator[bytes]:
        """The response's body as it arrives; raises `ConnectionLost` when it is cut off."""
        try:
            async with contextlib.aclosing(response.aiter_bytes()) as chunks:
                async for chunk in chunks:
                    yield chunk
        except (httpx2.TransportError, httpx2.DecodingError, httpx2.StreamError) as error:
            raise ConnectionLost(
                f"The connection to {self.server} was cut in the middle of an answer.",
                hint=f"{_reason(error)} The call may or may not have taken effect.",
            ) from error

    async def events(self, response: httpx2.Response, reader: EventStreamReader) -> AsyncGenerator[Event]:
        """The events of the response as they arrive; `reader` then knows where a cut stream can go on."""
        async with contextlib.aclosing(self.chunks(response)) as chunks:
            async for chunk in chunks:
                try:
                    events = reader.feed(chunk)
                except EventTooLarge:
                    raise self.too_large(reader.max_event_bytes) from None
                for event in events:
                    yield event

    async def body(self, response: httpx2.Response, limit: int) -> bytes:
        """The whole body; raises `ResultTooLarge` above `limit` bytes."""
        declared = response.headers.get("content-length", "")
        if declared.isdigit() and int(declared) > limit:
            raise self.too_large(limit)
        parts: list[bytes] = []
        size = 0
        async for chunk in self.chunks(response):
            size += len(chunk)
            if size > limit:
                raise self.too_large(limit)
            parts.append(chunk)
        return b"".join(parts)

    async def refusal_in(self, response: httpx2.Response) -> tuple[dict[str, Any] | None, str]:
        """The JSON-RPC error that a refusing response carries, if any, and the reason it gives in words."""
        body = await self._beginning(response)
        refusal = json_rpc_error(body)
        if refusal is not None:
            return refusal, str(refusal["error"].get("message", ""))[:LONGEST_REASON]
        if content_type(response) != "text/plain":
            return None, ""
        return None, body[:LONGEST_REASON].decode("utf-8", "replace").strip()

    def too_large(self, limit: int) -> ResultTooLarge:
        """The error for an answer beyond what we hold."""
        return ResultTooLarge(
            f"{self.server} sent an answer of more than {limit} bytes.", hint="Ask the tool for less at once."
        )

    def refusal(self, response: httpx2.Response, said: str = "") -> ToolcribError:
        """The error for a status that refuses a request; `said` is the reason the server gave."""
        status = response.status_code
        because = f": {said}" if said else ""
        if status in (401, 403):
            return self._auth_required(response, because)
        if status >= 500 or status in (408, 425, 429):
            wait = response.headers.get("retry-after")
            return RemoteUnreachable(
                f"{self.server} cannot answer now (HTTP {status}{because}).",
                hint=f"It asks to wait {wait} s." if wait else "It is tried again by itself.",
            )
        return PeerError(
            f"{self.server} refused the request (HTTP {status}{because}).",
            code=INVALID_REQUEST,
            data={"status": status},
            hint=f"Check the address {_shown(self.url)} and whether the type (http or sse) is right.",
        )

    def same_origin(self, url: httpx2.URL) -> bool:
        """True when the address is of our server: scheme, host and port are equal."""
        return (url.scheme, url.host, url.port) == (self.url.scheme, self.url.host, self.url.port)

    async def _beginning(self, response: httpx2.Response) -> bytes:
        parts: list[bytes] = []
        size = 0
        with contextlib.suppress(ConnectionLost):
            async with contextlib.aclosing(self.chunks(response)) as chunks:
                async for chunk in chunks:
                    parts.append(chunk)
                    size += len(chunk)
                    if size > MAX_REFUSAL_BYTES:
                        break
        return b"".join(parts)

    async def _send(
        self, method: str, url: httpx2.URL, headers: dict[str, str], content: bytes | None
    ) -> httpx2.Response:
        for _ in range(MAX_REDIRECTS + 1):
            request = self._client.build_request(
                method, url, headers={**self._headers, **headers}, content=content
            )
            try:
                response = await self._client.send(request, stream=True, follow_redirects=False)
            except httpx2.RequestError as error:
                raise self._failure(error) from error
            if not response.has_redirect_location:
                return response
            await response.aclose()
            url = self._redirected(response, method)
        raise RemoteUnreachable(f"{self.server} redirects in a circle.", hint=f"Check {_shown(self.url)}.")

    def _redirected(self, response: httpx2.Response, method: str) -> httpx2.URL:
        try:
            target = response.url.join(response.headers["location"])
        except httpx2.InvalidURL as error:
            raise RemoteUnreachable(f"{self.server} redirects to no valid address.") from error
        keeps_method = method == "GET" or response.status_code in (307, 308)
        if keeps_method and self.same_origin(target) and target.userinfo in (b"", self.url.userinfo):
            return target
        raise RemoteUnreachable(
            f"{self.server} redirects to {_shown(target)}, which is not followed.",
            hint="If that is where the server lives now, make it the server's url.",
        )

    def _failure(self, error: httpx2.RequestError) -> ToolcribError:
        address = _shown(self.url)
        if isinstance(error, httpx2.TimeoutException):
            return RemoteUnreachable(
                f"{self.server} did not answer at {address}: the connection timed out.",
                hint="Check that the host is up and that no firewall is in the way.",
            )
        if isinstance(error, httpx2.ProxyError):
            return RemoteUnreachable(
                f"The proxy on the way to {self.server} refused: {_reason(error)}",
                hint="Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY.",
            )
        if isinstance(error, httpx2.ConnectError | httpx2.UnsupportedProtocol):
            return _connect_failure(self.server, address, error)
        return ConnectionLost(
            f"The connection to {self.server} broke before it answered.",
            hint=f"{_reason(error)} The call may or may not have taken effect.",
        )

    def _auth_required(self, response: httpx2.Response, because: str) -> AuthRequired:
        status = response.status_code
        challenge = response.headers.get("www-authenticate", "")
        what = "wants a sign-in" if status == 401 else "does not allow this"
        hint = "Sign in to the server, or set its Authorization header."
        return AuthRequired(
            f"{self.server} {what} (HTTP {status}{because}).",
            hint=f"{hint} It says: {challenge}" if challenge else hint,
        )


@contextlib.asynccontextmanager
async def open_endpoint(spec: RemoteSpec, context: LinkContext) -> AsyncIterator[Endpoint]:
    """An endpoint with connections of its own, closed on leaving."""
    async with open_client(spec, context) as client:
        yield Endpoint(client, spec, context.server)


def content_type(response: httpx2.Response) -> str:
    """The media type of a body, without parameters."""
    kind: str = response.headers.get("content-type", "")
    return kind.partition(";")[0].strip().lower()


def json_rpc_error(body: bytes) -> dict[str, Any] | None:
    """The JSON-RPC error in a body; its id may be null, missing or somebody else's."""
    try:
        value = from_json(body)
    except ValueError:
        return None
    if isinstance(value, dict) and value.get("jsonrpc") == "2.0" and isinstance(value.get("error"), dict):
        return value
    return None


def _connect_failure(server: str, address: str, error: httpx2.RequestError) -> RemoteUnreachable:
    for cause in _causes(error):
        if isinstance(cause, socket.gaierror):
            return RemoteUnreachable(
                f"{server} cannot be found: the host name of {address} does not resolve.",
                hint="Check the spelling of the url, and the network.",
            )
        if isinstance(cause, ssl.SSLError):
            return RemoteUnreachable(
                f"No secure connection to {server} at {address}: {_reason(cause)}",
                hint="Check the certificate; `verify` can name the file of your own authority.",
            )
        if isinstance(cause, ConnectionRefusedError):
            return RemoteUnreachable(
                f"{server} is not running at {address}: the connection was refused.",
                hint="Start the server, or check the port in its url.",
            )
    return RemoteUnreachable(
        f"{server} cannot be reached at {address}: {_reason(error)}", hint="Check the url and the network."
    )


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and what lies under it; the pool drops causes, but errors carry them as an argument too."""
    yield error
    below = [error.__cause__] if error.__cause__ is not None else [*error.args[:1]]
    if isinstance(error, BaseExceptionGroup):  # one attempt for each address of the host
        below = list(error.exceptions)
    for cause in below:
        if isinstance(cause, BaseException):
            yield from _causes(cause)


def _reason(error: BaseException) -> str:
    return f"{str(error) or type(error).__name__}."


def _shown(url: httpx2.URL) -> str:
    """An address as a person may see it: what can hold a secret is left out."""
    return str(url.copy_with(userinfo=b"", query=None, fragment=None))

"""HTTP requests to one remote server, with its headers and sign-in, and the errors they can end with:
redirects, HTTP status, refused or lost connection, proxy, too large an answer.

Redirects are followed within the origin only, so that headers and tokens never reach another host. Errors
show the origin only, because paths may contain keys. It knows nothing of MCP messages.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
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
from toolcrib.serverkit.network.policy import shown
from toolcrib.servers.metered import running, take_turns
from toolcrib.servers.remote.client import open_client
from toolcrib.servers.remote.event_stream import EventStreamReader, EventTooLarge, ServerSentEvent
from toolcrib.servers.remote.spec import RemoteSpec
from toolcrib.servers.transport import LinkContext

MAX_REDIRECTS = 5
MAX_REFUSAL_BYTES = 256 * 1024
LONGEST_REASON = 200
PIECE = 4 * 1024
FEW_LINES = 64
POST_HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
GET_HEADERS = {"Accept": "text/event-stream", "Cache-Control": "no-store"}
INVALID_REQUEST = -32600


class RemoteEndpoint:
    """Sends requests to one origin; every failure is a `ToolcribError`."""

    def __init__(self, client: httpx2.AsyncClient, spec: RemoteSpec, server: str) -> None:
        self.url = httpx2.URL(spec.url)
        self.server = server
        self._client = client
        self._headers = _fields(spec.headers)

    @contextlib.asynccontextmanager
    async def exchange(
        self,
        method: str,
        headers: dict[str, str],
        content: bytes | None = None,
        *,
        url: httpx2.URL | None = None,
    ) -> AsyncIterator[httpx2.Response]:
        """One request and its response with any status; leaving closes the response."""
        response = await self._send(method, url or self.url, headers, content)
        try:
            yield response
        finally:
            await response.aclose()

    async def chunks(self, response: httpx2.Response) -> AsyncGenerator[bytes]:
        """The body as it arrives; raises `ConnectionLost` if it is cut off."""
        try:
            async with contextlib.aclosing(response.aiter_bytes()) as chunks:
                async for chunk in chunks:
                    yield chunk
                    await take_turns()
        except (httpx2.TransportError, httpx2.DecodingError, httpx2.StreamError) as error:
            raise cut_off_error(self.server, error) from error

    async def events(
        self, response: httpx2.Response, reader: EventStreamReader
    ) -> AsyncGenerator[ServerSentEvent]:
        """The events as they arrive; `reader` then knows where to resume a cut stream."""
        metered = running()
        async with contextlib.aclosing(self.chunks(response)) as chunks:
            async for chunk in chunks:
                for piece in _pieces(chunk):
                    for event in self._fed(reader, piece):
                        yield event
                        await take_turns()
                    await take_turns()
                if metered is not None:
                    metered.receiving(reader.unfinished)

    def _fed(self, reader: EventStreamReader, piece: bytes) -> list[ServerSentEvent]:
        try:
            return reader.feed(piece)
        except EventTooLarge:
            raise self.too_large(reader.max_event_bytes) from None

    async def body(self, response: httpx2.Response, limit: int) -> bytes:
        """The whole body; raises `ResultTooLarge` above `limit` bytes."""
        declared = response.headers.get("content-length", "")
        if declared.isdigit() and int(declared) > limit:
            raise self.too_large(limit)
        parts: list[bytes] = []
        size = 0
        metered = running()
        async for chunk in self.chunks(response):
            size += len(chunk)
            if size > limit:
                raise self.too_large(limit)
            parts.append(chunk)
            if metered is not None:
                metered.receiving(size)
        return b"".join(parts)

    async def refusal_in(self, response: httpx2.Response) -> tuple[dict[str, Any] | None, str]:
        """The JSON-RPC error of a refusal, if any, and its reason as text."""
        body = await self._beginning(response)
        refusal = json_rpc_error(body)
        if refusal is not None:
            return refusal, str(refusal["error"].get("message", ""))[:LONGEST_REASON]
        if content_type(response) != "text/plain":
            return None, ""
        return None, body[:LONGEST_REASON].decode("utf-8", "replace").strip()

    def too_large(self, limit: int) -> ResultTooLarge:
        return ResultTooLarge(
            f"{self.server} sent an answer of more than {limit} bytes.", hint="Ask the tool for less data."
        )

    def refusal(self, response: httpx2.Response, said: str = "") -> ToolcribError:
        """The error for a refused request; `said` is the server's reason."""
        status = response.status_code
        because = f": {said}" if said else ""
        if status in (401, 403):
            return _auth_error(self.server, response, because)
        if status >= 500 or status in (408, 425, 429):
            wait = response.headers.get("retry-after", "")
            return RemoteUnreachable(
                f"{self.server} is unavailable (HTTP {status}{because}).",
                hint=f"The server asks to wait {wait} s."
                if wait.isdigit()
                else "It is retried automatically.",
            )
        return PeerError(
            f"{self.server} refused the request (HTTP {status}{because}).",
            code=INVALID_REQUEST,
            data={"status": status},
            hint=f"Check the path after {_origin(self.url)}, and the type (http or sse).",
        )

    def same_origin(self, url: httpx2.URL) -> bool:
        """Whether scheme, host and port are equal to ours."""
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
            fields = self._headers.copy()
            fields.update(_fields(headers))
            request = self._client.build_request(method, url, headers=fields, content=content)
            try:
                response = await self._client.send(request, stream=True, follow_redirects=False)
            except httpx2.RequestError as error:
                raise request_error(self.server, self.url, error) from error
            if not response.has_redirect_location:
                return response
            await response.aclose()
            url = self._redirected(response, method)
        raise RemoteUnreachable(f"{self.server} redirects in a loop.", hint="Check its url.")

    def _redirected(self, response: httpx2.Response, method: str) -> httpx2.URL:
        try:
            target = response.url.join(response.headers["location"])
        except httpx2.InvalidURL as error:
            raise RemoteUnreachable(f"{self.server} redirects to an invalid address.") from error
        keeps_method = method == "GET" or response.status_code in (307, 308)
        if keeps_method and self.same_origin(target) and target.userinfo in (b"", self.url.userinfo):
            return target
        raise RemoteUnreachable(
            f"{self.server} redirects to {_target(target)}, which is not allowed.",
            hint="If the server has moved there, change its url.",
        )


@contextlib.asynccontextmanager
async def open_endpoint(spec: RemoteSpec, context: LinkContext) -> AsyncIterator[RemoteEndpoint]:
    """An endpoint with its own connections, closed on leaving."""
    async with open_client(spec, context) as client:
        yield RemoteEndpoint(client, spec, context.server)


def _pieces(chunk: bytes) -> Sequence[bytes]:
    """A chunk of many lines in pieces that are parsed quickly."""
    if len(chunk) <= PIECE or chunk.count(b"\n") + chunk.count(b"\r") <= FEW_LINES:
        return (chunk,)
    return [chunk[at : at + PIECE] for at in range(0, len(chunk), PIECE)]


def content_type(response: httpx2.Response) -> str:
    """The media type of a body, without parameters."""
    kind: str = response.headers.get("content-type", "")
    return kind.partition(";")[0].strip().lower()


def json_rpc_error(body: bytes) -> dict[str, Any] | None:
    """The JSON-RPC error in a body; its id may be null, missing or wrong."""
    try:
        value = from_json(body)
    except ValueError:
        return None
    if isinstance(value, dict) and value.get("jsonrpc") == "2.0" and isinstance(value.get("error"), dict):
        return value
    return None


def _fields(headers: dict[str, str]) -> httpx2.Headers:
    """Headers in UTF-8, because event ids and the user's headers may contain any character."""
    return httpx2.Headers(headers, encoding="utf-8")


def _target(url: httpx2.URL) -> str:
    """A redirect's target without query and password."""
    return str(url.copy_with(userinfo=b"", query=None, fragment=None))


def request_error(server: str, url: httpx2.URL, error: httpx2.RequestError) -> ToolcribError:
    """The error for a request without a response."""
    if isinstance(error, httpx2.TimeoutException):
        return RemoteUnreachable(
            f"{server} did not answer at {_origin(url)}: the connection timed out.",
            hint="Check that the host is up and not blocked by a firewall.",
        )
    if isinstance(error, httpx2.ProxyError):
        return RemoteUnreachable(
            f"The proxy for {server} refused: {_reason(error)}",
            hint="Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY.",
        )
    if isinstance(error, httpx2.ConnectError | httpx2.UnsupportedProtocol):
        return _connect_error(server, _origin(url), error)
    return ConnectionLost(
        f"The connection to {server} was lost before it answered.",
        hint=f"{_reason(error)} The call may or may not have taken effect.",
    )


def cut_off_error(server: str, error: Exception) -> ConnectionLost:
    """The error for an incomplete response."""
    return ConnectionLost(
        f"The connection to {server} was lost during an answer.",
        hint=f"{_reason(error)} The call may or may not have taken effect.",
    )


def _auth_error(server: str, response: httpx2.Response, because: str) -> AuthRequired:
    challenge = response.headers.get("www-authenticate", "")
    what = "requires a sign-in" if response.status_code == 401 else "denied access"
    hint = f"Sign in with `toolcrib login {server}`, or set its Authorization header."
    return AuthRequired(
        f"{server} {what} (HTTP {response.status_code}{because}).",
        hint=f"{hint} Server message: {shown(challenge, 300)}" if challenge else hint,
    )


def _connect_error(server: str, address: str, error: httpx2.RequestError) -> RemoteUnreachable:
    for cause in _causes(error):
        if isinstance(cause, socket.gaierror):
            return RemoteUnreachable(
                f"{server} cannot be reached: the host name of {address} does not resolve.",
                hint="Check the url and the network.",
            )
        if isinstance(cause, ssl.SSLError):
            return RemoteUnreachable(
                f"No secure connection to {server} at {address}: {_reason(cause)}",
                hint="Check the certificate; `verify` can be the file of your own certificate authority.",
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
    """The error and its causes; the pool drops `__cause__`, but errors also carry it as an argument."""
    yield error
    below = [error.__cause__] if error.__cause__ is not None else [*error.args[:1]]
    if isinstance(error, BaseExceptionGroup):  # one attempt for each address of the host
        below = list(error.exceptions)
    for cause in below:
        if isinstance(cause, BaseException):
            yield from _causes(cause)


def _reason(error: BaseException) -> str:
    return f"{str(error) or type(error).__name__}."


def _origin(url: httpx2.URL) -> str:
    return f"{url.scheme}://{url.netloc.decode()}"

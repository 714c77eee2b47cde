"""One remote address: requests to it, and to nowhere else, with its own headers and sign-in.

Redirects are followed within the origin only, so no header and no sign-in of one server ever reaches another.
Whatever goes wrong below HTTP, and whatever status refuses a request, becomes an error of ours that says what
happened. It knows nothing of MCP's messages.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

import httpx2
from pydantic_core import from_json

from toolcrib.errors import ConnectionLost, RemoteUnreachable, ResultTooLarge, ToolcribError
from toolcrib.servers.link import LinkContext
from toolcrib.servers.remote.client import open_client
from toolcrib.servers.remote.event_stream import Event, EventStreamReader, EventTooLarge
from toolcrib.servers.remote.failures import cut_off_error, refusal_error, request_error
from toolcrib.servers.remote.spec import RemoteSpec

MAX_REDIRECTS = 5
MAX_REFUSAL_BYTES = 256 * 1024
LONGEST_REASON = 200


class Endpoint:
    """Sends requests to one origin and turns every failure into an error of ours."""

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
            raise cut_off_error(self.server, error) from error

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
        return refusal_error(self.server, self.url, response, said)

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
        raise RemoteUnreachable(f"{self.server} redirects in a circle.", hint="Check its url.")

    def _redirected(self, response: httpx2.Response, method: str) -> httpx2.URL:
        try:
            target = response.url.join(response.headers["location"])
        except httpx2.InvalidURL as error:
            raise RemoteUnreachable(f"{self.server} redirects to no valid address.") from error
        keeps_method = method == "GET" or response.status_code in (307, 308)
        if keeps_method and self.same_origin(target) and target.userinfo in (b"", self.url.userinfo):
            return target
        raise RemoteUnreachable(
            f"{self.server} redirects to {_target(target)}, which is not followed.",
            hint="If that is where the server lives now, make it the server's url.",
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


def _fields(headers: dict[str, str]) -> httpx2.Headers:
    """Headers in UTF-8, because event ids and a person's own headers may hold any character."""
    return httpx2.Headers(headers, encoding="utf-8")


def _target(url: httpx2.URL) -> str:
    """Where a redirect leads, without what can carry a state or a password."""
    return str(url.copy_with(userinfo=b"", query=None, fragment=None))

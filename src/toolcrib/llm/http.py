"""Sends a request to a vendor, reads its answer line by line or as one document, and translates network
errors. Timeouts: connecting, silence while a model thinks; limits: longest line, largest document.

Leaving the block closes the connection, so that the vendor stops. Lines end only at line feed and carriage
return: `str.splitlines` would also split at U+2028 and others, which may occur inside JSON strings.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from toolcrib.errors import AnswerCut, ConfigError, ModelError, ModelUnreachable
from toolcrib.llm.context import ModelVendor
from toolcrib.llm.json_values import Json, decode, encode, tables
from toolcrib.llm.vendor_errors import translate

if TYPE_CHECKING:
    import httpx2


LONGEST_LINE = 64 * 1024 * 1024
"""Longest line in bytes."""
LARGEST_DOCUMENT = 8 * 1024 * 1024
"""Bytes; the longest list of models that was seen, with 400 descriptions, has 600,000."""
_BOM = b"\xef\xbb\xbf"


class ResponseLineTooLong(ValueError):
    pass


class LineReader:
    """Turns chunks of bytes into lines of text."""

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        self._longest = longest
        self._begun: list[bytes] = []
        self._held = 0
        self._after_return = False
        self._at_start = True

    def feed(self, chunk: bytes) -> list[str]:
        """The lines that this chunk completes; raises `ResponseLineTooLong`."""
        if self._after_return and chunk.startswith(b"\n"):  # A CRLF split between two chunks.
            chunk = chunk[1:]
            self._after_return = False
        if not chunk:
            return []
        self._after_return = chunk.endswith(b"\r")
        lines = chunk.splitlines()  # On bytes, this splits only at these three.
        rest = b"" if chunk.endswith((b"\r", b"\n")) else lines.pop()
        complete = [self._join(line) for line in lines]
        self._hold(rest)
        return complete

    def rest(self) -> str:
        return self._join(b"") if self._begun else ""

    def _hold(self, piece: bytes) -> None:
        if not piece:
            return
        self._begun.append(piece)
        self._held += len(piece)
        if self._held > self._longest:
            raise ResponseLineTooLong(f"a line is longer than {self._longest:,} bytes")

    def _join(self, end: bytes) -> str:
        line = b"".join([*self._begun, end])
        self._begun, self._held = [], 0
        if self._at_start:
            line = line.removeprefix(_BOM)
        self._at_start = False
        return line.decode("utf-8", "replace")


CONNECT_TIMEOUT = 15.0
SILENCE_TIMEOUT = 600.0
"""Seconds without data after which a model counts as gone; some think for minutes first."""
LINGERING = 1.0
"""Seconds to wait for the end of a stream after its last event."""
_MAX_ERROR_BYTES = 64 * 1024


@dataclass(frozen=True, kw_only=True)
class VendorRequest:
    vendor: ModelVendor
    url: str
    headers: Mapping[str, str]
    body: Mapping[str, Any] | None = None
    """Sent by POST; None for a GET."""
    key_name: str = ""
    origin: str = ""
    """Marks the parts of the answer that only this endpoint and model get back."""
    in_lines: bool = False
    """The answer is JSON lines, not server-sent events."""


class Sender:
    """The connections to one vendor, opened by the first request."""

    def __init__(self) -> None:
        self._client: httpx2.AsyncClient | None = None

    @asynccontextmanager
    async def send(self, request: VendorRequest) -> AsyncIterator[VendorResponse]:
        """The answer to a request; raises `ModelError` for any error status."""
        async with AsyncExitStack() as stack:
            yield await self._once(stack, request)

    async def close(self) -> None:
        if self._client is not None:
            client, self._client = self._client, None
            await client.aclose()

    async def _once(self, stack: AsyncExitStack, request: VendorRequest) -> VendorResponse:
        import httpx2

        client = self._client_of(request.url)
        content = None if request.body is None else encode(request.body)
        method = "GET" if content is None else "POST"
        headers = {"Content-Type": "application/json", "User-Agent": "toolcrib", **request.headers}
        try:
            response = await stack.enter_async_context(
                client.stream(method, request.url, content=content, headers=headers)
            )
            if response.is_success:
                return VendorResponse(response, request)
            text = await _beginning(response)
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
            raise ConfigError(f"{request.url!r} is not a model's address: {error}") from None
        except httpx2.HTTPError as error:
            raise ModelUnreachable(
                f"{request.vendor.title} cannot be reached at {request.url}: {_said(error)}",
                hint="Check the address and the network.",
            ) from error
        raise translate(request.vendor, request.key_name, response.status_code, response.headers, text)

    def _client_of(self, url: str) -> httpx2.AsyncClient:
        if self._client is None:
            import ssl

            import httpx2

            local = httpx2.URL(url).host in ("localhost", "127.0.0.1", "::1")
            plain = url.startswith("http://")
            self._client = httpx2.AsyncClient(
                # Loading the CA certificates takes 30 ms and is not needed without TLS.
                verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain and local else True,
                timeout=httpx2.Timeout(SILENCE_TIMEOUT, connect=CONNECT_TIMEOUT),
                trust_env=not local,
            )
        return self._client


class VendorResponse:
    """A successful response, to be read once."""

    def __init__(self, response: httpx2.Response, request: VendorRequest) -> None:
        self._response = response
        self._vendor = request.vendor
        self._in_lines = request.in_lines
        self._reader = LineReader()
        self.ended = False
        """Set by the reader when the answer is complete; the rest is read only to reuse the connection."""

    def pieces(self) -> AsyncGenerator[dict[str, Any], None]:
        """The answer as it arrives: events, lines, or a single document."""
        if self._in_lines:
            return self._documents()
        if self._response.headers.get("content-type", "").startswith("application/json"):
            return self._whole()  # A server that does not stream.
        return self.events()

    async def _whole(self) -> AsyncGenerator[dict[str, Any], None]:
        lines = [line async for line in self.lines()]
        text = "\n".join([*lines, self._reader.rest()])
        for piece in self._last(text):
            yield piece

    async def document(self) -> Json:
        """The whole answer as one JSON object, or a list as its `data`; raises `ModelError`."""
        import httpx2

        read = bytearray()
        try:
            async for chunk in self._response.aiter_bytes():
                read += chunk
                if len(read) > LARGEST_DOCUMENT:
                    raise ModelError(f"{self._vendor.title} sent more than {LARGEST_DOCUMENT:,} bytes.")
        except httpx2.HTTPError as error:
            raise self._broke_off(_said(error)) from error
        try:
            found = decode(bytes(read).decode("utf-8", "replace"))
        except ValueError:
            found = None
        if isinstance(found, dict | list):
            return found if isinstance(found, dict) else {"data": found}
        raise ModelError(
            f"{self._vendor.title} did not answer as a model server does.", hint="Check the address."
        )

    async def lines(self) -> AsyncGenerator[str, None]:
        """The complete lines of the answer; raises `AnswerCut` if the connection breaks."""
        import httpx2

        reader = self._reader
        try:
            chunks = self._response.aiter_bytes()
            async for chunk in chunks:
                for line in reader.feed(chunk):
                    yield line
                if self.ended:
                    await _linger(chunks)
                    return
        except httpx2.HTTPError as error:
            raise self._broke_off(_said(error)) from error
        except ResponseLineTooLong as error:
            raise ModelError(f"{self._vendor.title} sent a line that is too long: {error}.") from error

    async def events(self) -> AsyncGenerator[dict[str, Any], None]:
        """The data of server-sent events as JSON; `[DONE]` gives an empty object."""
        data: list[str] = []
        async for line in self.lines():
            if line.startswith("data:"):
                data.append(line[5:].removeprefix(" "))
            elif not line and data:
                for piece in self._event("\n".join(data)):
                    yield piece
                data = []
        rest = self._reader.rest()
        if rest.startswith("data:"):
            data.append(rest[5:].removeprefix(" "))
        if data:  # Some servers omit the last empty line.
            for piece in self._last("\n".join(data)):
                yield piece

    async def _documents(self) -> AsyncGenerator[dict[str, Any], None]:
        async for line in self.lines():
            if line.strip():
                for piece in objects(self._vendor, line):
                    yield piece
        rest = self._reader.rest()
        if rest.strip():
            for piece in self._last(rest):
                yield piece

    def _event(self, text: str) -> list[dict[str, Any]]:
        return [{}] if text.strip() == "[DONE]" else objects(self._vendor, text)

    def _last(self, text: str) -> list[dict[str, Any]]:
        """The end of the stream; invalid JSON there means that it was cut off."""
        try:
            return self._event(text)
        except ModelError as error:
            raise self._broke_off("it is incomplete") from error

    def _broke_off(self, why: str) -> AnswerCut:
        return AnswerCut(f"{self._vendor.title}'s answer was cut off: {why}", hint="Ask again.")


async def fetch_document(
    vendor: ModelVendor, url: str, headers: Mapping[str, str], *, key_name: str = "", timeout: float
) -> Json:
    """The JSON that a vendor answers to a GET within these seconds; raises `ModelError` or `ConfigError`."""
    sender = Sender()
    try:
        async with (
            asyncio.timeout(timeout),
            sender.send(VendorRequest(vendor=vendor, url=url, headers=headers, key_name=key_name)) as answer,
        ):
            return await answer.document()
    except TimeoutError:
        raise ModelUnreachable(
            f"{vendor.title} did not answer at {url} within {timeout:g} seconds.",
            hint="Check the address and the network.",
        ) from None
    finally:
        await sender.close()


def objects(vendor: ModelVendor, text: str) -> list[dict[str, Any]]:
    """The JSON objects of a text, one or a list; raises `ModelError` if it is not JSON."""
    try:
        found = decode(text)
    except ValueError:
        raise ModelError(f"{vendor.title} sent an invalid answer: {text[:200]!r}") from None
    return [found] if isinstance(found, dict) else tables(found)


async def _linger(chunks: AsyncIterator[bytes]) -> None:
    """Read to the end for a moment, so that the connection can be reused."""
    import httpx2

    with contextlib.suppress(TimeoutError, httpx2.HTTPError):
        async with asyncio.timeout(LINGERING):
            async for _ in chunks:
                pass


def _said(error: Exception) -> str:
    return str(error) or type(error).__name__


async def _beginning(response: httpx2.Response) -> str:
    """The beginning of an error response."""
    read = bytearray()
    async for chunk in response.aiter_bytes():
        read += chunk
        if len(read) > _MAX_ERROR_BYTES:
            break
    return bytes(read[:_MAX_ERROR_BYTES]).decode("utf-8", "replace")

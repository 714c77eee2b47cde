"""Sends a request to a vendor and reads its answer line by line; one place for what goes wrong on the wire.

Leaving the block closes the connection, so that the vendor stops working.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from toolcrib.errors import AnswerCut, ConfigError, ModelError, ModelUnreachable
from toolcrib.llm.context import Vendor
from toolcrib.llm.lines import LineReader, LineTooLong
from toolcrib.llm.refusals import translate
from toolcrib.llm.valid_json import decode, encode
from toolcrib.llm.values import tables

if TYPE_CHECKING:
    import httpx2

CONNECT_TIMEOUT = 15.0
SILENCE_TIMEOUT = 600.0
"""Seconds without a byte after which a model counts as gone; some think for minutes before the first word."""
LINGERING = 1.0
"""Seconds for the end of a stream after the end of its answer."""
_MAX_ERROR_BYTES = 64 * 1024


@dataclass(frozen=True, kw_only=True)
class Outgoing:
    """A request on its way."""

    vendor: Vendor
    url: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    key_name: str = ""
    in_lines: bool = False
    """The answer is JSON line by line, not events."""


class Sender:
    """The connections to one vendor; opened at the first request."""

    def __init__(self) -> None:
        self._client: httpx2.AsyncClient | None = None

    @asynccontextmanager
    async def send(self, outgoing: Outgoing) -> AsyncIterator[Answer]:
        """The answer to a POST; raises `ModelError` for any that is no success."""
        async with AsyncExitStack() as stack:
            yield await self._once(stack, outgoing)

    async def close(self) -> None:
        """Let go of the connections."""
        if self._client is not None:
            client, self._client = self._client, None
            await client.aclose()

    async def _once(self, stack: AsyncExitStack, outgoing: Outgoing) -> Answer:
        import httpx2

        client = self._client_of(outgoing.url)
        content = encode(outgoing.body)
        headers = {"Content-Type": "application/json", "User-Agent": "toolcrib", **outgoing.headers}
        try:
            response = await stack.enter_async_context(
                client.stream("POST", outgoing.url, content=content, headers=headers)
            )
            if response.is_success:
                return Answer(response, outgoing)
            text = await _beginning(response)
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
            raise ConfigError(f"{outgoing.url!r} is no address of a model: {error}") from None
        except httpx2.HTTPError as error:
            raise ModelUnreachable(
                f"{outgoing.vendor.title} cannot be reached at {outgoing.url}: {_said(error)}",
                hint="Check the address and the network.",
            ) from error
        raise translate(outgoing.vendor, outgoing.key_name, response.status_code, response.headers, text)

    def _client_of(self, url: str) -> httpx2.AsyncClient:
        if self._client is None:
            import ssl

            import httpx2

            local = httpx2.URL(url).host in ("localhost", "127.0.0.1", "::1")
            plain = url.startswith("http://")
            self._client = httpx2.AsyncClient(
                # Loading the system's authorities costs 30 ms, and nothing here speaks TLS.
                verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain and local else True,
                timeout=httpx2.Timeout(SILENCE_TIMEOUT, connect=CONNECT_TIMEOUT),
                trust_env=not local,
            )
        return self._client


class Answer:
    """A success, to be read once."""

    def __init__(self, response: httpx2.Response, outgoing: Outgoing) -> None:
        self._response = response
        self._vendor = outgoing.vendor
        self._in_lines = outgoing.in_lines
        self._reader = LineReader()
        self.ended = False
        """Set by the reader when it has all it needs; what follows is read for the connection's sake."""

    def pieces(self) -> AsyncGenerator[dict[str, Any], None]:
        """The answer in the pieces in which it comes: events, lines, or all of it at once."""
        if self._in_lines:
            return self._documents()
        if self._response.headers.get("content-type", "").startswith("application/json"):
            return self._whole()  # A server that does not stream, whatever it was asked for.
        return self.events()

    async def _whole(self) -> AsyncGenerator[dict[str, Any], None]:
        lines = [line async for line in self.lines()]
        text = "\n".join([*lines, self._reader.rest()])
        for piece in self._last(text):
            yield piece

    async def lines(self) -> AsyncGenerator[str, None]:
        """The complete lines of the answer; raises `AnswerCut` when the connection breaks."""
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
        except LineTooLong as error:
            raise ModelError(f"{self._vendor.title} sent too much at once: {error}.") from error

    async def events(self) -> AsyncGenerator[dict[str, Any], None]:
        """The data of server-sent events, as JSON; `[DONE]` gives an empty object."""
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
        if data:  # Some end without the last empty line.
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
        """What the stream ends with; what cannot be read there was cut off."""
        try:
            return self._event(text)
        except ModelError as error:
            raise self._broke_off("it ends in the middle") from error

    def _broke_off(self, why: str) -> AnswerCut:
        return AnswerCut(f"The answer of {self._vendor.title} broke off: {why}", hint="Ask again.")


def objects(vendor: Vendor, text: str) -> list[dict[str, Any]]:
    """The JSON objects of a text: one, or a list of them; raises `ModelError` where it is no JSON."""
    try:
        found = decode(text)
    except ValueError:
        raise ModelError(f"{vendor.title} sent something that cannot be understood: {text[:200]!r}") from None
    return [found] if isinstance(found, dict) else tables(found)


async def _linger(chunks: AsyncIterator[bytes]) -> None:
    """Read to the end, so that the connection can be used again; not for long."""
    import httpx2

    with contextlib.suppress(TimeoutError, httpx2.HTTPError):
        async with asyncio.timeout(LINGERING):
            async for _ in chunks:
                pass


def _said(error: Exception) -> str:
    return str(error) or type(error).__name__


async def _beginning(response: httpx2.Response) -> str:
    """As much of a refusal as is worth reading."""
    read = bytearray()
    async for chunk in response.aiter_bytes():
        read += chunk
        if len(read) > _MAX_ERROR_BYTES:
            break
    return bytes(read[:_MAX_ERROR_BYTES]).decode("utf-8", "replace")

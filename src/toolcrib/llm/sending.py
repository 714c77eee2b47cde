"""Sends a request to a vendor and reads its answer line by line; one place for what goes wrong on the wire.

A vendor that is busy is asked again before anybody is told, as long as nothing of the answer was read.
Leaving the block closes the connection, so that the vendor stops working.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from toolcrib.errors import (
    AnswerCut,
    ConfigError,
    ModelBusy,
    ModelError,
    ModelUnreachable,
)
from toolcrib.llm.context import ModelContext, Vendor
from toolcrib.llm.patience import tell_of_wait
from toolcrib.llm.refusals import translate

if TYPE_CHECKING:
    import httpx2

CONNECT_TIMEOUT = 15.0
SILENCE_TIMEOUT = 600.0
"""Seconds without a byte after which a model counts as gone; some think for minutes before the first word."""
LONGEST_WAIT = 60.0
"""A vendor that wants to be left alone for longer is not waited for."""
_FIRST_WAIT = 1.0
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

    def __init__(self, context: ModelContext) -> None:
        self._context = context
        self._client: httpx2.AsyncClient | None = None

    @asynccontextmanager
    async def send(self, outgoing: Outgoing) -> AsyncIterator[Answer]:
        """The answer to a POST; raises `ModelError` for any that is no success."""
        async with AsyncExitStack() as stack:
            yield await self._begin(stack, outgoing)

    async def close(self) -> None:
        """Let go of the connections."""
        if self._client is not None:
            client, self._client = self._client, None
            await client.aclose()

    async def _begin(self, stack: AsyncExitStack, outgoing: Outgoing) -> Answer:
        wait = _FIRST_WAIT
        for left in range(self._context.retries, -1, -1):
            try:
                return await self._once(stack, outgoing)
            except (ModelBusy, ModelUnreachable) as error:
                asked = getattr(error, "wait", None)
                pause = wait if asked is None else asked
                if not left or pause > LONGEST_WAIT:
                    raise
                tell_of_wait(error, pause)
                await self._context.clock.sleep(pause)
                wait *= 4
        raise AssertionError("unreachable")

    async def _once(self, stack: AsyncExitStack, outgoing: Outgoing) -> Answer:
        import httpx2

        client = self._client_of(outgoing.url)
        content = json.dumps(outgoing.body, ensure_ascii=False).encode("utf-8", "replace")
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
        text = "".join([line async for line in self.lines()])
        yield parse(self._vendor, text)

    async def lines(self) -> AsyncGenerator[str, None]:
        """The lines of the answer; raises `AnswerCut` when the connection breaks."""
        import httpx2

        try:
            lines = self._response.aiter_lines()
            async for line in lines:
                yield line
                if self.ended:
                    await _linger(lines)
                    return
        except httpx2.HTTPError as error:
            raise AnswerCut(
                f"The answer of {self._vendor.title} broke off: {_said(error)}", hint="Ask again."
            ) from error

    async def events(self) -> AsyncGenerator[dict[str, Any], None]:
        """The data of server-sent events, as JSON; `[DONE]` gives an empty object."""
        data: list[str] = []
        async for line in self.lines():
            if line.startswith("data:"):
                data.append(line[5:].lstrip(" "))
            elif not line and data:
                yield self._event(data)
                data = []
        if data:  # Some end without the last empty line.
            yield self._event(data)

    async def _documents(self) -> AsyncGenerator[dict[str, Any], None]:
        async for line in self.lines():
            if line.strip():
                yield parse(self._vendor, line)

    def _event(self, data: list[str]) -> dict[str, Any]:
        text = "\n".join(data)
        return {} if text == "[DONE]" else parse(self._vendor, text)


def parse(vendor: Vendor, text: str) -> dict[str, Any]:
    """A JSON object; raises `ModelError`."""
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if isinstance(found, dict):
        return found
    raise ModelError(f"{vendor.title} sent something that cannot be understood: {text[:200]!r}")


async def _linger(lines: AsyncIterator[str]) -> None:
    """Read to the end, so that the connection can be used again; not for long."""
    import httpx2

    with contextlib.suppress(TimeoutError, httpx2.HTTPError):
        async with asyncio.timeout(LINGERING):
            async for _ in lines:
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

"""Waits on a loopback port for the browser's redirect after a sign-in, and answers with the page that the
user then sees: its texts, and refused requests."""

from __future__ import annotations

import asyncio
import html
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

PATH = "/callback"
MAX_HEAD = 16 * 1024
MAX_PARAMETERS = 100
HEAD_PATIENCE = 10.0

_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Toolcrib</title>
<style>body{{font:16px/1.5 system-ui,sans-serif;margin:20vh auto;max-width:32em;text-align:center}}</style>
<h1>{title}</h1><p>{text}</p></html>"""
_HEADERS = (
    "Content-Type: text/html; charset=utf-8\r\n"
    "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'\r\n"
    "Referrer-Policy: no-referrer\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
    "Connection: close\r\n"
)


@dataclass(frozen=True)
class RedirectResult:
    """The parameters of the redirect."""

    code: str = field(repr=False)
    state: str | None = field(repr=False)
    iss: str | None
    error: str = ""


class RedirectListener:
    """The listening port; redirects with another state or path than `expect` are rejected."""

    def __init__(self) -> None:
        self.redirect_uri = ""
        self._state: str | None = None
        self._path = PATH
        self._answer: asyncio.Future[RedirectResult] = asyncio.get_running_loop().create_future()

    def expect(self, state: str | None, redirect_uri: str = "") -> None:
        """Accept only a redirect with this state, to this address of the port or to its usual one."""
        self._state = state
        self._path = urlsplit(redirect_uri or self.redirect_uri).path

    async def answer(self) -> RedirectResult:
        return await self._answer

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(HEAD_PATIENCE):
                head = await reader.readuntil(b"\r\n\r\n")
            status, title, text = self._judge(head.decode("latin-1").split("\r\n", 1)[0])
            page = _PAGE.format(title=html.escape(title), text=html.escape(text)).encode()
            writer.write(
                f"HTTP/1.1 {status}\r\n{_HEADERS}Content-Length: {len(page)}\r\n\r\n".encode() + page
            )
            await writer.drain()
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # not a browser, or it disconnected
        finally:
            writer.close()

    def _judge(self, request_line: str) -> tuple[str, str, str]:
        words = request_line.split(" ")
        path, _, text = (words[1] if len(words) == 3 and words[0] == "GET" else "").partition("?")
        if path != self._path:
            return "404 Not Found", "Not found", "This address only receives sign-in redirects."
        query = _parameters(text)
        if self._state is None or query.get("state") != self._state or self._answer.done():
            return (
                "400 Bad Request",
                "Unexpected sign-in",
                "Toolcrib is not waiting for this sign-in.",
            )
        error = query.get("error_description") or query.get("error") or ""
        answer = RedirectResult(query.get("code", ""), query.get("state"), query.get("iss"), error[:300])
        self._answer.set_result(answer)
        if error:
            return "200 OK", "Not signed in", f"The sign-in was refused: {error[:300]}"
        return "200 OK", "Signed in", "You can close this page and return to Toolcrib."


def _parameters(query: str) -> dict[str, str]:
    """Each parameter; one that is repeated has no value that could be relied on, and is left out."""
    try:
        found = parse_qs(query, max_num_fields=MAX_PARAMETERS)
    except ValueError:
        return {}
    return {key: values[0] for key, values in found.items() if len(values) == 1}


@asynccontextmanager
async def listen(port: int = 0) -> AsyncIterator[RedirectListener]:
    """Listen on loopback while the block runs; on a free port if `port` is in use."""
    callback = RedirectListener()
    try:
        server = await asyncio.start_server(callback.serve, "127.0.0.1", port, limit=MAX_HEAD)
    except OSError:
        server = await asyncio.start_server(callback.serve, "127.0.0.1", 0, limit=MAX_HEAD)
    async with server:
        number = server.sockets[0].getsockname()[1]
        callback.redirect_uri = f"http://127.0.0.1:{number}{PATH}"
        yield callback

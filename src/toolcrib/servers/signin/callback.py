"""Waits on loopback for the browser to come back from a sign-in: one port, one answer, then gone."""

from __future__ import annotations

import asyncio
import html
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

PATH = "/callback"
MAX_HEAD = 16 * 1024
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
class Answer:
    """What the redirect carried."""

    code: str = field(repr=False)
    state: str | None = field(repr=False)
    iss: str | None
    error: str = ""


class Callback:
    """The listening port; `expect` names the state that counts, anything else is turned away."""

    def __init__(self) -> None:
        self.redirect_uri = ""
        self._state: str | None = None
        self._answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()

    def expect(self, state: str | None) -> None:
        """Only a redirect with this state is the one."""
        self._state = state

    async def answer(self) -> Answer:
        """The redirect, once it came."""
        return await self._answer

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request of a browser."""
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
            pass  # no browser, or one that went away
        finally:
            writer.close()

    def _judge(self, request_line: str) -> tuple[str, str, str]:
        words = request_line.split(" ")
        target = urlsplit(words[1]) if len(words) == 3 and words[0] == "GET" else None
        if target is None or target.path != PATH:
            return "404 Not Found", "Nothing here", "This address only waits for a sign-in to come back."
        query = {key: values[0] for key, values in parse_qs(target.query).items()}
        if self._state is None or query.get("state") != self._state or self._answer.done():
            return "400 Bad Request", "Not this one", "This is not the sign-in that is waited for."
        error = query.get("error_description") or query.get("error") or ""
        answer = Answer(query.get("code", ""), query.get("state"), query.get("iss"), error[:300])
        self._answer.set_result(answer)
        if error:
            return "200 OK", "Not signed in", f"The sign-in was refused: {error[:300]}"
        return "200 OK", "Signed in", "You can close this page and go back to Toolcrib."


@asynccontextmanager
async def listen(port: int = 0) -> AsyncIterator[Callback]:
    """Listen on loopback for as long as the block lasts; on any free port where the wanted one is taken."""
    callback = Callback()
    try:
        server = await asyncio.start_server(callback.serve, "127.0.0.1", port, limit=MAX_HEAD)
    except OSError:
        server = await asyncio.start_server(callback.serve, "127.0.0.1", 0, limit=MAX_HEAD)
    async with server:
        number = server.sockets[0].getsockname()[1]
        callback.redirect_uri = f"http://127.0.0.1:{number}{PATH}"
        yield callback

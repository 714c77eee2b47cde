"""The ASGI application: one endpoint for both eras, so small that a call costs little more than its JSON.

A modern request stands alone. A legacy client has a session: it opens with `initialize`, is told changes on
a GET stream, answers questions with POSTs of its own, and leaves with DELETE. Bodies, sessions and requests
under way are bounded.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from pydantic_core import from_json, to_json

from toolcrib.gateway.front import Front
from toolcrib.gateway.gateway import Gateway
from toolcrib.gateway.http.exchange import KEEP_ALIVE, STREAM_HEADERS, Exchange, Receive, Send, event
from toolcrib.gateway.http.guard import Guard
from toolcrib.gateway.http.headers import check_headers
from toolcrib.gateway.http.sessions import MAX_UNHEARD, HttpSession, Outbox, Sessions
from toolcrib.gateway.questions import Questions
from toolcrib.schema.tools import Principal
from toolcrib.serverkit.protocol import (
    INVALID_REQUEST,
    PARSE_ERROR,
    Message,
    Refusal,
    refuse,
)
from toolcrib.servers.remote.headers import modern_version

logger = logging.getLogger(__name__)

MAX_BODY = 16 * 1024 * 1024
SESSION_ID = "mcp-session-id"
Headers = Mapping[str, str]


class Application:
    """The gateway over HTTP."""

    def __init__(self, gateway: Gateway, guard: Guard | None = None, *, path: str = "/mcp") -> None:
        self._gateway = gateway
        self._guard = guard or Guard()
        self._path = path
        self._sessions = Sessions(gateway)
        self._principal = Principal(
            name=f"gateway:{gateway.profile.name}" if gateway.profile.name else "gateway"
        )

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Answer one request (called by the HTTP server)."""
        if scope["type"] != "http":
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self._guard.refusal(headers)
        if refusal is not None:
            await _plain(send, *refusal)
        elif scope["path"] == "/healthz":
            await _plain(send, 200, "ok")
        elif quote(scope["path"].rstrip("/")) != self._path:
            await _plain(send, 404, f"There is nothing here. The endpoint is {self._path}.")
        elif scope["method"] == "POST":
            await self._post(headers, receive, send)
        elif scope["method"] == "GET":
            await self._listen(headers, receive, send)
        elif scope["method"] == "DELETE":
            await self._leave(headers, send)
        else:
            await _plain(send, 405, "POST, GET and DELETE are understood.")

    def close(self) -> None:
        """Forget every client."""
        self._sessions.close_all()

    async def _post(self, headers: Headers, receive: Receive, send: Send) -> None:
        body = await _body(headers, receive)
        if body is None:
            await _plain(send, 413, f"A message may have {MAX_BODY >> 20} MB.")
            return
        try:
            message = from_json(body)
        except ValueError:
            await _refuse(send, 400, Refusal(PARSE_ERROR, "The body is no JSON."))
            return
        if not isinstance(message, dict):
            await _refuse(send, 400, Refusal(INVALID_REQUEST, "One message a request, please."))
            return
        version = modern_version(message)
        if version is not None:
            await self._modern(message, version, headers, receive, send)
        else:
            await self._legacy(message, headers, receive, send)

    async def _modern(
        self, message: Message, version: str, headers: Headers, receive: Receive, send: Send
    ) -> None:
        try:
            check_headers(message, version, headers)
        except Refusal as refusal:
            await _refuse(send, 400, refusal, message.get("id"))
            return
        front = Front(self._gateway, Outbox(), self._principal)
        await self._exchange(front, message, Questions(), receive, send, [])

    async def _legacy(self, message: Message, headers: Headers, receive: Receive, send: Send) -> None:
        extra: list[Any] = []
        if message.get("method") == "initialize":
            session = self._sessions.open(self._principal)
            if session is None:
                await _plain(send, 503, "Too many clients are connected; try again later.")
                return
            extra = [(SESSION_ID.encode(), session.id.encode())]
        else:
            found = await self._session(headers, send)
            if found is None:
                return
            session = found
        if "method" not in message:
            session.questions.take(message)
            await _plain(send, 202, "")
            return
        await self._exchange(session.front, message, session.questions, receive, send, extra)

    async def _exchange(
        self,
        front: Front,
        message: Message,
        questions: Questions,
        receive: Receive,
        send: Send,
        extra: list[Any],
    ) -> None:
        exchange = Exchange(questions)
        answering = asyncio.create_task(front.respond(message, exchange))
        # A legacy client that hangs up may come back; only a modern one cancels by it.
        modern = front.version is None and message.get("method") != "initialize"
        await exchange.run(answering, send, receive, extra, cancels=modern)

    async def _session(self, headers: Headers, send: Send) -> HttpSession | None:
        """The session a request belongs to, or None after having said what is wrong."""
        session_id = headers.get(SESSION_ID)
        if session_id is None:
            await _refuse(send, 400, Refusal(INVALID_REQUEST, "Missing session ID: open with initialize."))
            return None
        session = self._sessions.find(session_id)
        if session is None:
            await _refuse(send, 404, Refusal(INVALID_REQUEST, "Session not found: open with initialize."))
        return session

    async def _listen(self, headers: Headers, receive: Receive, send: Send) -> None:
        """The stream on which a legacy client is told of changes; one for each session."""
        session = await self._session(headers, send)
        if session is None:
            return
        if session.outbox.queue is not None:
            await _plain(send, 409, "This session already has a stream.")
            return
        queue: asyncio.Queue[Message] = asyncio.Queue(MAX_UNHEARD)
        session.outbox.queue = queue
        hung_up = asyncio.ensure_future(_until_gone(receive))
        try:
            await send({"type": "http.response.start", "status": 200, "headers": STREAM_HEADERS})
            await send({"type": "http.response.body", "body": b":\n\n", "more_body": True})
            await _pour(queue, hung_up, send)
        finally:
            session.outbox.queue = None
            hung_up.cancel()

    async def _leave(self, headers: Headers, send: Send) -> None:
        session = await self._session(headers, send)
        if session is not None:
            self._sessions.close(session)
            await _plain(send, 200, "")


async def _pour(queue: asyncio.Queue[Message], hung_up: asyncio.Future[None], send: Send) -> None:
    while not hung_up.done():
        waiting = asyncio.ensure_future(queue.get())
        waits: set[asyncio.Future[Any]] = {waiting, hung_up}
        await asyncio.wait(waits, timeout=KEEP_ALIVE, return_when=asyncio.FIRST_COMPLETED)
        if hung_up.done():
            waiting.cancel()
            return
        body = event(waiting.result()) if waiting.done() else b":\n\n"
        waiting.cancel()
        await send({"type": "http.response.body", "body": body, "more_body": True})


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _body(headers: Headers, receive: Receive) -> bytes | None:
    """The whole body, or None when it is larger than we take."""
    length = headers.get("content-length", "")
    if length.isdigit() and int(length) > MAX_BODY:
        return None
    part = await receive()
    if not part.get("more_body"):
        return bytes(part.get("body", b""))
    parts, size = [part.get("body", b"")], len(part.get("body", b""))
    while part.get("more_body"):
        part = await receive()
        parts.append(part.get("body", b""))
        size += len(parts[-1])
        if size > MAX_BODY:
            return None
    return b"".join(parts)


async def _plain(send: Send, status: int, text: str) -> None:
    body = text.encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _refuse(send: Send, status: int, refusal: Refusal, request_id: Any = None) -> None:
    body = to_json(refuse(request_id, refusal))
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})

"""The ASGI application: one address for every view and both eras, so small that a call costs little more
than its JSON.

A modern request stands alone. A legacy client has a session: it opens with `initialize`, is told changes on
a GET stream, answers questions with POSTs of its own, and leaves with DELETE. Bodies, sessions and requests
under way are bounded, and what is too much is refused with a word on when to try again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from pydantic_core import from_json

from toolcrib.gateway.front import Front
from toolcrib.gateway.http.answers import (
    CLOSE,
    send_busy,
    send_json,
    send_plain,
    send_refusal,
    send_unauthorised,
)
from toolcrib.gateway.http.exchange import Exchange, Receive, Send
from toolcrib.gateway.http.guard import Guard, read_headers
from toolcrib.gateway.http.headers import check_headers, check_parameters, version_of
from toolcrib.gateway.http.health import health
from toolcrib.gateway.http.sessions import HttpSession
from toolcrib.gateway.http.streams import resume, stream_changes
from toolcrib.gateway.http.view import LISTEN, View
from toolcrib.gateway.http.views import ENDPOINT, Views
from toolcrib.gateway.questions import Questions
from toolcrib.serverkit.protocol import INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR, Message, Refusal

SESSION_ID = "mcp-session-id"
SOON, LATER = 1, 30
"""Seconds after which to try again: a call ends soon, a client stays for a while."""
Headers = Mapping[str, str]


class Application:
    """The views over HTTP."""

    def __init__(self, views: Views, guard: Guard) -> None:
        self._views = views
        self._load = views.load
        self._guard = guard

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Answer one request (called by the HTTP server)."""
        if scope["type"] != "http":
            return
        headers = read_headers(scope["headers"])
        if headers is None:
            await send_plain(send, 400, "A header that may stand once stands twice.", CLOSE)
            return
        reached = scope.get("server")
        refusal = self._guard.refusal(headers, reached[0] if reached else None)
        if refusal is not None:
            await send_plain(send, *refusal, CLOSE)
        elif scope["path"] == "/healthz":
            await send_json(send, 200, health(self._views, headers.get("authorization")))
        else:
            await self._enter(scope, headers, receive, send)

    async def _enter(self, scope: dict[str, Any], headers: Headers, receive: Receive, send: Send) -> None:
        view = self._views.find(scope["path"])
        if view is None:
            await send_plain(send, 404, f"There is nothing here. See {ENDPOINT} and {ENDPOINT}/PROFILE.")
        elif not view.admits(headers.get("authorization")):
            await send_unauthorised(send)
        elif self._load.ending:
            await send_busy(send, 503, "The gateway is ending.", SOON)
        elif scope["method"] == "POST":
            await self._post(view, headers, receive, send)
        elif scope["method"] == "GET":
            await self._listen(view, headers, receive, send)
        elif scope["method"] == "DELETE":
            await self._leave(view, headers, send)
        else:
            allowed = (b"allow", b"POST, GET, DELETE")
            await send_plain(send, 405, "POST, GET and DELETE are understood.", allowed)

    async def _post(self, view: View, headers: Headers, receive: Receive, send: Send) -> None:
        most = self._load.limits.max_body_bytes
        body = await _body(headers, receive, most)
        if body is None:
            await send_plain(send, 413, f"A message may have {most:,} bytes.", CLOSE)
            return
        try:
            message = from_json(body)
        except ValueError:
            await send_refusal(send, 400, Refusal(PARSE_ERROR, "The body is no JSON."))
            return
        if not isinstance(message, dict):
            await send_refusal(send, 400, Refusal(INVALID_REQUEST, "One message a request, please."))
            return
        version = version_of(message, headers)
        if version is not None:
            await self._modern(view, message, version, headers, receive, send)
        else:
            await self._legacy(view, message, headers, receive, send)

    async def _modern(
        self, view: View, message: Message, version: str, headers: Headers, receive: Receive, send: Send
    ) -> None:
        try:
            check_headers(message, version, headers)
            if message.get("method") == "tools/call":
                _check_parameters(view, message, headers)
            elif message.get("method") == "initialize":
                raise Refusal(METHOD_NOT_FOUND, "There is no method 'initialize' here.")
        except Refusal as refusal:
            status = 404 if refusal.code == METHOD_NOT_FOUND else 400
            await send_refusal(send, status, refusal, message.get("id"))
            return
        if message.get("method") == LISTEN and not self._load.has_room_for_client:
            await self._refuse_client(send, message.get("id"))
        elif not self._load.has_room_for_call:
            await self._refuse_call(send, message)
        else:
            exchange = Exchange(Questions())
            await _run(view, view.modern_front(), message, exchange, None, receive, send, [])

    async def _legacy(
        self, view: View, message: Message, headers: Headers, receive: Receive, send: Send
    ) -> None:
        if message.get("method") == "initialize":
            await self._open(view, message, receive, send)
            return
        session = await self._session(view, headers, send)
        if session is None:
            return
        if "method" not in message:
            session.questions.take(message)
            await send_plain(send, 202, "")
        elif "id" in message and not self._load.has_room_for_call:
            await self._refuse_call(send, message)
        elif "id" in message and session.calls >= self._load.limits.max_calls_per_session:
            text = f"{session.calls} requests of this client are under way; try again shortly."
            await send_busy(send, 429, text, SOON, message["id"])
        else:
            exchange = Exchange(session.questions, session.kept.open if session.resumes else None)
            streams = session.resumes and "id" in message and _prefers_stream(headers)
            await _run(view, session.front, message, exchange, session, receive, send, [], streams=streams)

    async def _open(self, view: View, message: Message, receive: Receive, send: Send) -> None:
        session = view.sessions.open(view.principal)
        if session is None:
            await self._refuse_client(send, message.get("id"))
            return
        extra = [(SESSION_ID.encode(), session.id.encode())]
        exchange = Exchange(session.questions)
        await _run(view, session.front, message, exchange, session, receive, send, extra)
        if session.front.version is None:
            # It could not be opened: nobody will come with its id.
            view.sessions.close(session)

    async def _refuse_client(self, send: Send, request_id: Any) -> None:
        await send_busy(send, 503, "Too many clients are connected; try again later.", LATER, request_id)

    async def _refuse_call(self, send: Send, message: Message) -> None:
        text = f"{self._load.calls} requests are under way; try again shortly."
        await send_busy(send, 503, text, SOON, message.get("id"))

    async def _session(self, view: View, headers: Headers, send: Send) -> HttpSession | None:
        """The session a request belongs to, or None after having said what is wrong."""
        session_id = headers.get(SESSION_ID)
        if session_id is None:
            missing = Refusal(INVALID_REQUEST, "Missing session ID: open with initialize.")
            await send_refusal(send, 400, missing)
            return None
        session = view.sessions.find(session_id)
        if session is None:
            gone = Refusal(INVALID_REQUEST, "Session not found: open with initialize.")
            await send_refusal(send, 404, gone)
        return session

    async def _listen(self, view: View, headers: Headers, receive: Receive, send: Send) -> None:
        session = await self._session(view, headers, send)
        if session is None:
            return
        kept = session.kept.find(headers.get("last-event-id", ""))
        if kept is not None:
            await resume(*kept, receive, send)
            return
        if session.outbox.queue is not None:
            await send_plain(send, 409, "This session already has a stream.")
            return
        await stream_changes(session, receive, send)

    async def _leave(self, view: View, headers: Headers, send: Send) -> None:
        session = await self._session(view, headers, send)
        if session is not None:
            view.sessions.close(session)
            await send_plain(send, 200, "")


def _check_parameters(view: View, message: Message, headers: Headers) -> None:
    params = message["params"]
    tool = view.gateway.find(params["name"]) if isinstance(params.get("name"), str) else None
    if tool is not None:
        check_parameters(tool, params.get("arguments"), headers)


async def _run(
    view: View,
    front: Front,
    message: Message,
    exchange: Exchange,
    session: HttpSession | None,
    receive: Receive,
    send: Send,
    extra: list[Any],
    *,
    streams: bool = False,
) -> None:
    answering = asyncio.create_task(view.respond(front, message, exchange, session))
    # A legacy client that hangs up may come back; only a modern one cancels by it.
    await exchange.run(answering, send, receive, extra, cancels=session is None, streams=streams)


def _prefers_stream(headers: Headers) -> bool:
    """Clients name both kinds of answer; one that names the stream first would rather have that."""
    first = headers.get("accept", "").partition(",")[0]
    return first.strip().lower() == "text/event-stream"


async def _body(headers: Headers, receive: Receive, most: int) -> bytes | None:
    """The whole body, or None when it is larger than we take."""
    length = headers.get("content-length", "")
    if length.isdigit() and int(length) > most:
        return None
    part = await receive()
    body = part.get("body", b"")
    if part.get("more_body"):
        body = bytearray(body)
        while part.get("more_body") and len(body) <= most:
            part = await receive()
            body += part.get("body", b"")
    return bytes(body) if len(body) <= most else None

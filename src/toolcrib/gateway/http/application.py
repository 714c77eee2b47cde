"""What is done with each request: one address for every view and both eras, so small that a call costs
little more than its JSON.

A modern request stands alone. A legacy client has a session: it opens with `initialize`, is told changes on
a GET stream, answers questions with POSTs of its own, and leaves with DELETE. Sessions and requests under way
are bounded, and what is too much is refused with a word on when to try again. Whatever can be refused is so
at once; only what has to wait for something gets a task, and one is enough.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Mapping
from typing import Any, cast

from pydantic_core import from_json

from toolcrib.gateway.http.answers import answer_busy, answer_refusal, answer_unauthorised
from toolcrib.gateway.http.beside import Beside, is_gateways
from toolcrib.gateway.http.exchange import Exchange
from toolcrib.gateway.http.guard import Guard
from toolcrib.gateway.http.headers import check_headers, check_parameters, version_of
from toolcrib.gateway.http.health import health
from toolcrib.gateway.http.request import HttpRequest
from toolcrib.gateway.http.sessions import HttpSession
from toolcrib.gateway.http.streams import resume, stream_changes
from toolcrib.gateway.http.view import LISTEN, View
from toolcrib.gateway.http.views import ENDPOINT, Views
from toolcrib.serverkit.protocol import INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR, Message, Refusal

logger = logging.getLogger(__name__)

SESSION_ID = "mcp-session-id"
SOON, LATER = 1, 30
"""Seconds after which to try again: a call ends soon, a client stays for a while."""


class Application:
    """The views over HTTP; `beside` answers at every path that is none of theirs."""

    def __init__(self, views: Views, guard: Guard, beside: Beside | None = None) -> None:
        self._views = views
        self._beside = beside
        self._load = views.load
        self._guard = guard
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.get_running_loop()

    def meet(self, request: HttpRequest) -> None:
        """Refuse whoever may not come in, before the body has arrived."""
        headers = request.headers
        if request.contradictory:
            request.say(400, "A header that may stand once stands twice.", close=True)
            return
        refusal = self._guard.refusal(headers, request.reached)
        if refusal is not None:
            request.say(*refusal, close=True)
            return
        if request.path == "/healthz":
            request.give(health(self._views, headers.get("authorization")))
            return
        view = request.view = self._views.find(request.path)
        if view is None and self._beside is not None and not is_gateways(request.path):
            self._beside.meet(request)
        elif view is None:
            request.say(404, f"There is nothing here. See {ENDPOINT} and {ENDPOINT}/PROFILE.")
        elif not view.admits(headers.get("authorization")):
            answer_unauthorised(request)
        elif self._load.ending:
            answer_busy(request, 503, "The gateway is ending.", SOON)
        elif request.method not in ("POST", "GET", "DELETE"):
            request.say(405, "POST, GET and DELETE are understood.", (b"allow", b"POST, GET, DELETE"))

    def take(self, request: HttpRequest) -> None:
        """Answer a request that has arrived whole."""
        view = cast(View, request.view)
        if view is None:
            cast(Beside, self._beside).take(request)
        elif request.method == "POST":
            self._post(view, request)
        elif request.method == "GET":
            self._listen(view, request)
        else:
            self._leave(view, request)

    async def close(self, patience: float) -> None:
        """Let answers that are being made be finished for so many seconds, then stop."""
        if self._tasks:
            await asyncio.wait(tuple(self._tasks), timeout=patience)
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _post(self, view: View, request: HttpRequest) -> None:
        try:
            message = from_json(request.body)
        except ValueError:
            answer_refusal(request, 400, Refusal(PARSE_ERROR, "The body is no JSON."))
            return
        if not isinstance(message, dict):
            answer_refusal(request, 400, Refusal(INVALID_REQUEST, "One message a request, please."))
            return
        version = version_of(message, request.headers)
        if version is not None:
            self._modern(view, message, version, request)
        else:
            self._legacy(view, message, request)

    def _modern(self, view: View, message: Message, version: str, request: HttpRequest) -> None:
        method = message.get("method")
        try:
            check_headers(message, version, request.headers)
            if method == "tools/call":
                _check_parameters(view, message, request.headers)
            elif method == "initialize":
                raise Refusal(METHOD_NOT_FOUND, "There is no method 'initialize' here.")
        except Refusal as refusal:
            status = 404 if refusal.code == METHOD_NOT_FOUND else 400
            answer_refusal(request, status, refusal, message.get("id"))
            return
        if method == LISTEN and not self._load.has_room_for_client:
            _refuse_client(request, message)
        elif not self._load.has_room_for_call:
            self._refuse_call(request, message)
        else:
            exchange = Exchange(request)
            self._start(request, exchange.run(view.respond(view.modern_front(), message, exchange)))

    def _legacy(self, view: View, message: Message, request: HttpRequest) -> None:
        if message.get("method") == "initialize":
            self._open(view, message, request)
            return
        session = _session(view, request)
        if session is None:
            return
        if "method" not in message:
            session.questions.take(message)
            request.answer(202)
        elif "id" in message and not self._load.has_room_for_call:
            self._refuse_call(request, message)
        elif "id" in message and session.calls >= self._load.max_calls_per_session:
            text = f"{session.calls} requests of this client are under way; try again shortly."
            answer_busy(request, 429, text, SOON, message["id"])
        else:
            keep = session.kept.open if session.resumes else None
            exchange = Exchange(request, session.questions, keep=keep)
            if keep is not None and "id" in message and _prefers_stream(request.headers):
                exchange.stream()
            self._start(request, exchange.run(view.respond(session.front, message, exchange, session)))

    def _open(self, view: View, message: Message, request: HttpRequest) -> None:
        session = view.sessions.open(view.principal)
        if session is None:
            _refuse_client(request, message)
            return
        identity = ((SESSION_ID.encode(), session.id.encode()),)
        exchange = Exchange(request, session.questions, headers=identity)

        async def opening() -> None:
            await exchange.run(view.respond(session.front, message, exchange, session))
            if session.front.version is None:
                # It could not be opened: nobody will come with its id.
                view.sessions.close(session)

        self._start(request, opening())

    def _refuse_call(self, request: HttpRequest, message: Message) -> None:
        text = f"{self._load.calls} requests are under way; try again shortly."
        answer_busy(request, 503, text, SOON, message.get("id"))

    def _listen(self, view: View, request: HttpRequest) -> None:
        session = _session(view, request)
        if session is None:
            return
        kept = session.kept.find(request.headers.get("last-event-id", ""))
        if kept is not None:
            self._start(request, resume(*kept, request))
        elif session.outbox.queue is not None:
            request.say(409, "This session already has a stream.")
        else:
            self._start(request, stream_changes(session, request))

    def _leave(self, view: View, request: HttpRequest) -> None:
        session = _session(view, request)
        if session is not None:
            view.sessions.close(session)
            request.say(200, "")

    def _start(self, request: HttpRequest, work: Coroutine[Any, Any, None]) -> None:
        # Named by us: else a new name is made up for each.
        request.task = task = self._loop.create_task(self._see_through(request, work), name="request")
        self._tasks.add(task)

    async def _see_through(self, request: HttpRequest, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception:
            logger.exception("a request could not be answered")
            request.fail()
        finally:
            self._tasks.discard(cast("asyncio.Task[None]", request.task))
            request.task = None  # whose context leads back here: a cycle that only the collector would undo


def _session(view: View, request: HttpRequest) -> HttpSession | None:
    """The session a request belongs to, or None after having said what is wrong."""
    session_id = request.headers.get(SESSION_ID)
    if session_id is None:
        missing = Refusal(INVALID_REQUEST, "Missing session ID: open with initialize.")
        answer_refusal(request, 400, missing)
        return None
    session = view.sessions.find(session_id)
    if session is None:
        gone = Refusal(INVALID_REQUEST, "Session not found: open with initialize.")
        answer_refusal(request, 404, gone)
    return session


def _refuse_client(request: HttpRequest, message: Message) -> None:
    text = "Too many clients are connected; try again later."
    answer_busy(request, 503, text, LATER, message.get("id"))


def _check_parameters(view: View, message: Message, headers: Mapping[str, str]) -> None:
    params = message["params"]
    tool = view.gateway.find(params["name"]) if isinstance(params.get("name"), str) else None
    if tool is not None:
        check_parameters(tool, params.get("arguments"), headers)


def _prefers_stream(headers: Mapping[str, str]) -> bool:
    """Clients name both kinds of answer; one that names the stream first would rather have that."""
    first = headers.get("accept", "").partition(",")[0]
    return first.strip().lower() == "text/event-stream"

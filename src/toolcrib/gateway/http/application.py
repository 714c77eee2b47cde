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
from collections.abc import Coroutine
from typing import Any, cast

from pydantic_core import from_json

from toolcrib.gateway.http.admitted import Standing
from toolcrib.gateway.http.answers import answer_busy, answer_refusal, answer_unauthorised
from toolcrib.gateway.http.exchange import Exchange
from toolcrib.gateway.http.guard import Guard
from toolcrib.gateway.http.headers import check_headers, check_parameters
from toolcrib.gateway.http.health import health
from toolcrib.gateway.http.page_bridge import Beside, is_gateways
from toolcrib.gateway.http.request import HttpRequest
from toolcrib.gateway.http.streams import resume, stream_changes
from toolcrib.gateway.http.view import LISTEN, View
from toolcrib.gateway.http.views import ENDPOINT, Views
from toolcrib.serverkit.protocol import INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR, Message, Refusal
from toolcrib.servers.remote.headers import modern_version

logger = logging.getLogger(__name__)

SESSION_ID = "mcp-session-id"
SOON, LATER = 1, 30
"""Seconds after which to try again: a call ends soon, a client stays for a while."""


class Application:
    """The views over HTTP; `beside` answers at every path that is none of theirs."""

    def __init__(self, views: Views, guard: Guard, beside: Beside | None = None) -> None:
        self._host = views.host
        self._views = views
        self._beside = beside
        self._load = views.load
        self._guard = guard
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.get_running_loop()

    def meet(self, request: HttpRequest) -> None:
        """Refuse whoever may not come in, before the body has arrived."""
        standing = None if request.head is None else request.head.standing
        if standing is None or standing.config is not self._host.config or self._load.ending:
            self._examine(request)
        else:
            request.standing = standing

    def _examine(self, request: HttpRequest) -> None:
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
        view = self._views.find(request.path)
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
        else:
            request.standing = Standing(self._host.config, view, headers)
            if request.head is not None:
                request.head.standing = request.standing

    def take(self, request: HttpRequest) -> None:
        """Answer a request that has arrived whole."""
        standing = request.standing
        if standing is None:
            cast(Beside, self._beside).take(request)
        elif request.method == "POST":
            self._post(standing, request)
        elif request.method == "GET":
            self._listen(standing.view, request)
        else:
            self._leave(standing.view, request)

    async def close(self, patience: float) -> None:
        """Let answers that are being made be finished for so many seconds, then stop."""
        if self._tasks:
            await asyncio.wait(tuple(self._tasks), timeout=patience)
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _post(self, standing: Standing, request: HttpRequest) -> None:
        try:
            message = from_json(request.body)
        except ValueError:
            answer_refusal(request, 400, Refusal(PARSE_ERROR, "The body is no JSON."))
            return
        if not isinstance(message, dict):
            answer_refusal(request, 400, Refusal(INVALID_REQUEST, "One message a request, please."))
            return
        version = modern_version(message)
        if version is None:
            # A body that lacks what the header promises is refused as the modern request it is.
            version = standing.modern_version
        if version is not None:
            self._modern(standing, message, version, request)
        else:
            self._legacy(standing, message, request)

    def _modern(self, standing: Standing, message: Message, version: str, request: HttpRequest) -> None:
        view = standing.view
        method = message.get("method")
        try:
            if method == "tools/call":
                _check_call(standing, message, version, request)
            else:
                check_headers(message, version, request.headers)
            if method == "initialize":
                raise Refusal(METHOD_NOT_FOUND, "There is no method 'initialize' here.")
        except Refusal as refusal:
            status = 404 if refusal.code == METHOD_NOT_FOUND else 400
            answer_refusal(request, status, refusal, message.get("id"))
            return
        load = self._load
        if method == LISTEN and not load.make_room_for_client():
            _refuse_client(request, message)
        elif load.calls >= load.max_calls:
            self._refuse_call(request, message)
        else:
            exchange = Exchange(request, self._tasks)
            self._start(request, exchange.run(view.respond(view.modern_front(), message, exchange)))

    def _legacy(self, standing: Standing, message: Message, request: HttpRequest) -> None:
        view = standing.view
        if message.get("method") == "initialize":
            self._open(view, message, request)
            return
        session = view.sessions.find(request.headers.get(SESSION_ID))
        if session is None:
            _refuse_session(request)
            return
        if "method" not in message:
            session.questions.take(message)
            request.answer(202)
            return
        asks, load = "id" in message, self._load
        if asks and load.calls >= load.max_calls:
            self._refuse_call(request, message)
        elif asks and session.calls >= load.max_calls_per_session:
            text = f"{session.calls} requests of this client are under way; try again shortly."
            answer_busy(request, 429, text, SOON, message["id"])
        else:
            exchange = Exchange(request, self._tasks, session.questions, session.keep)
            if asks and standing.prefers_stream and session.keep is not None:
                exchange.stream()
            self._start(request, exchange.run(view.respond(session.front, message, exchange, session)))

    def _open(self, view: View, message: Message, request: HttpRequest) -> None:
        session = view.sessions.open(view.principal)
        if session is None:
            _refuse_client(request, message)
            return
        identity = ((SESSION_ID.encode(), session.id.encode()),)
        exchange = Exchange(request, self._tasks, session.questions, headers=identity)

        async def opening() -> None:
            await exchange.run(view.respond(session.front, message, exchange, session))
            if session.front.version is None:
                # It could not be opened: nobody will come with its id.
                view.sessions.close(session)
            session.opened()

        self._start(request, opening())

    def _refuse_call(self, request: HttpRequest, message: Message) -> None:
        text = f"{self._load.calls} requests are under way; try again shortly."
        answer_busy(request, 503, text, SOON, message.get("id"))

    def _listen(self, view: View, request: HttpRequest) -> None:
        session = view.sessions.find(request.headers.get(SESSION_ID))
        if session is None:
            _refuse_session(request)
            return
        kept = session.kept.find(request.headers.get("last-event-id", ""))
        if kept is not None:
            self._start(request, self._see_through(request, resume(*kept, request)))
        elif session.outbox.queue is not None:
            request.say(409, "This session already has a stream.")
        else:
            self._start(request, self._see_through(request, stream_changes(session, request)))

    def _leave(self, view: View, request: HttpRequest) -> None:
        session = view.sessions.find(request.headers.get(SESSION_ID))
        if session is None:
            _refuse_session(request)
        else:
            view.sessions.close(session)
            request.say(200, "")

    def _start(self, request: HttpRequest, work: Coroutine[Any, Any, None]) -> None:
        # Named by us: else a new name is made up for each.
        request.task = task = self._loop.create_task(work, name="request")
        self._tasks.add(task)

    async def _see_through(self, request: HttpRequest, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception:
            logger.exception("a request could not be answered")
            request.fail()
        finally:
            request.ended(self._tasks)


def _refuse_session(request: HttpRequest) -> None:
    """A request without a session, or of one that is not there."""
    if SESSION_ID in request.headers:
        gone = Refusal(INVALID_REQUEST, "Session not found: open with initialize.")
        answer_refusal(request, 404, gone)
    else:
        missing = Refusal(INVALID_REQUEST, "Missing session ID: open with initialize.")
        answer_refusal(request, 400, missing)


def _refuse_client(request: HttpRequest, message: Message) -> None:
    text = "Too many clients are connected; try again later."
    answer_busy(request, 503, text, LATER, message.get("id"))


def _check_call(standing: Standing, message: Message, version: str, request: HttpRequest) -> None:
    """Raise a refusal when the headers of a call do not say what its body says."""
    params = message.get("params")
    params = params if isinstance(params, dict) else {}
    name = params.get("name")
    gateway = standing.view.gateway
    said = (version, name, gateway.host.registry.snapshot.version)
    if standing.said == said:
        return  # as the one before with this head, which was in order
    check_headers(message, version, request.headers)
    tool = gateway.find(name) if isinstance(name, str) else None
    if tool is not None and not check_parameters(tool, params.get("arguments"), request.headers):
        standing.said = said

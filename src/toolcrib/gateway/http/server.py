"""Serves the gateway over HTTP for as long as a block lasts: statuses and texts of refused requests, headers
that must match the body, times after which to retry, and how long running calls have at shutdown.

Shutdown is bounded: running calls have a few seconds to finish, then are answered with an error.

Handles the requests of every profile and both eras of the protocol. A modern request is independent. A legacy
client has a session: it opens with `initialize`, gets changes on a GET stream, answers requests of servers
with POSTs of its own, and ends with DELETE. Sessions and running requests are limited; beyond that, requests
are refused with the time after which to retry. What can be refused is refused without a task; every other
POST gets exactly one.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import logging
import re
from collections.abc import AsyncIterator, Coroutine, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Protocol, cast

from pydantic_core import from_json

from toolcrib.config.contents import Config
from toolcrib.gateway.http.address import HeaderCheck, bind, listen, shown_name
from toolcrib.gateway.http.connection import HttpConnection, RequestHandler
from toolcrib.gateway.http.endpoints import ENDPOINT, LISTEN, ProfileEndpoint, ProfileEndpoints
from toolcrib.gateway.http.request import HttpRequest, answer_busy, answer_refusal, answer_unauthorised
from toolcrib.gateway.http.sessions import Exchange, resume, stream_changes
from toolcrib.gateway.profile import Offer, offer_all
from toolcrib.host import Host
from toolcrib.schema.tools import Tool
from toolcrib.serverkit.encoding import SMALL, Excessive, is_large, parse_any
from toolcrib.serverkit.protocol import (
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MODERN_VERSIONS,
    PARSE_ERROR,
    Message,
    Refusal,
)
from toolcrib.servers.processes.origin import claimed
from toolcrib.servers.remote.headers import (
    InvalidMark,
    Path,
    marked_parameters,
    modern_version,
    parameter_headers,
    standard_headers,
)

HEADER_MISMATCH = -32020
PARAMETER = "mcp-param-"
_WRAPPING = ("=?base64?", "?=")
_MAX_KNOWN = 10_000
_known_marks: dict[str, Mapping[Path, str]] = {}
"""The mirrored parameters of each definition, by its hash: too slow to compute for every call."""
_PLAIN = re.compile(r"[\x20-\x7e\t]*")

logger = logging.getLogger(__name__)

SESSION_ID = "mcp-session-id"
SOON, LATER = 1, 30
"""Seconds after which to retry: a call ends soon, a client stays for a while."""
_Work = Coroutine[Any, Any, None]

BACKLOG = 2048
GRACE = 3.0
"""Seconds that running requests have at shutdown."""
SENDING = 2.0
"""Seconds more, to send the responses."""


def check_headers(message: Message, version: str, headers: Mapping[str, str]) -> None:
    """Raise a refusal if a header is missing or contradicts the body."""
    if _are_usual(message, version, headers):
        return
    for name, expected in standard_headers(message, version).items():
        given = headers.get(name.lower())
        if given is None:
            raise Refusal(HEADER_MISMATCH, f"The header {name} is missing.")
        if _unwrapped(given.strip()) != _unwrapped(expected):
            raise _mismatch(name)


def _are_usual(message: Message, version: str, headers: Mapping[str, str]) -> bool:
    """True if the headers of a call equal its body, without encoding or whitespace; others need a full
    check."""
    if message.get("method") != "tools/call" or headers.get("mcp-method") != "tools/call":
        return False
    params = message.get("params")
    name = params.get("name") if type(params) is dict else None
    if type(name) is not str or name.startswith(_WRAPPING[0]):
        return False
    return headers.get("mcp-name") == name and headers.get("mcp-protocol-version") == version


def check_parameters(tool: Tool, arguments: Any, headers: Mapping[str, str]) -> bool:
    """Raise a refusal if a header that mirrors an argument is missing or contradicts it; returns whether the
    tool has mirrored parameters."""
    marks = _marks_of(tool)
    if not marks:
        return False
    expected = {name.lower(): value for name, value in parameter_headers(marks, arguments).items()}
    for mark in marks.values():
        name = f"{PARAMETER}{mark.lower()}"
        given = headers.get(name)
        if (given is None) != (name not in expected):
            raise _mismatch(name)
        if given is not None and not _is_same(given.strip(), expected[name]):
            raise _mismatch(name)
    return True


def _marks_of(tool: Tool) -> Mapping[Path, str]:
    marks = _known_marks.get(tool.hash)
    if marks is None:
        if len(_known_marks) >= _MAX_KNOWN:
            _known_marks.clear()
        try:
            marks = marked_parameters(tool.definition.input_schema)
        except InvalidMark:
            marks = {}  # then nothing is mirrored
        _known_marks[tool.hash] = marks
    return marks


def _is_same(given: str, expected: str) -> bool:
    if not _PLAIN.fullmatch(given):
        return False
    one, other = _unwrapped(given), _unwrapped(expected)
    return one is not None and (one == other or _is_same_number(one, other))


def _is_same_number(one: str, other: str | None) -> bool:
    try:
        return other is not None and other.lstrip("-").isdigit() and float(one) == int(other)
    except (ValueError, OverflowError):
        return False


def _mismatch(name: str) -> Refusal:
    return Refusal(HEADER_MISMATCH, f"The header {name} contradicts the body of the request.")


def _unwrapped(value: str) -> str | None:
    """The text of a header value, which may be base64-encoded; None if it is invalid."""
    opening, closing = _WRAPPING
    if not (value.startswith(opening) and value.endswith(closing)):
        return value
    try:
        return base64.b64decode(value[len(opening) : -len(closing)], validate=True).decode()
    except (binascii.Error, ValueError):
        return None


class FallbackApp(RequestHandler, Protocol):
    """Answers at every path that is not the gateway's, if Host and Origin are allowed."""

    def end(self) -> None:
        """Accept nothing new, and end streams that would never end by themselves."""

    async def close(self, patience: float) -> None:
        """Let running requests finish for so many seconds, then stop."""


class RequestContext:
    """The endpoint of an admitted request and what its headers ask for; valid for all requests with the same
    head while the config stays the same."""

    __slots__ = ("checked", "config", "endpoint", "modern_version", "prefers_stream")

    def __init__(self, config: Config, endpoint: ProfileEndpoint, headers: Mapping[str, str]) -> None:
        self.config = config
        self.endpoint = endpoint
        version = headers.get("mcp-protocol-version", "").strip()
        self.modern_version = version if version in MODERN_VERSIONS else None
        """From the header; the body takes precedence."""
        self.prefers_stream = _names_stream_first(headers)
        self.checked: tuple[str, Any, int] | None = None
        """The version and the tool of the last call with this head, and the version of the registry: another
        such call needs no check. None for a tool that mirrors arguments in headers."""


class HttpApplication:
    """The endpoints over HTTP; `fallback` answers at every other path."""

    def __init__(
        self, endpoints: ProfileEndpoints, guard: HeaderCheck, fallback: FallbackApp | None = None
    ) -> None:
        self._core = endpoints.host.core
        self._endpoints = endpoints
        self._fallback = fallback
        self._load = endpoints.load
        self._guard = guard
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.get_running_loop()

    def check_head(self, request: HttpRequest) -> None:
        """Refuse a request that is not allowed, before its body has arrived."""
        admission = request.head.admission
        if admission is None or admission.config is not self._core.config or self._load.ending:
            self._check(request)
        else:
            request.admission = admission

    def _check(self, request: HttpRequest) -> None:
        headers = request.headers
        refusal = self._guard.refusal(headers, request.reached)
        if refusal is not None:
            request.say(*refusal, close=True)
            return
        if request.path == "/healthz":
            request.give(self._endpoints.health(headers.get("authorization")))
            return
        endpoint = self._endpoints.find(request.path)
        if endpoint is None and self._fallback is not None and not _is_gateways(request.path):
            self._fallback.check_head(request)
        elif endpoint is None:
            request.say(404, f"Not found. The gateway is at {ENDPOINT} and {ENDPOINT}/PROFILE.")
        elif not endpoint.admits(headers.get("authorization")):
            answer_unauthorised(request)
        elif self._load.ending:
            answer_busy(request, 503, "The gateway is shutting down.", SOON)
        elif request.method not in ("POST", "GET", "DELETE"):
            request.say(405, "Use POST, GET or DELETE.", (b"allow", b"POST, GET, DELETE"))
        elif request.method == "POST" and not _is_json(headers.get("content-type", "")):
            request.say(415, "Send the message as application/json.", close=True)
        else:
            request.admission = request.head.admission = RequestContext(self._core.config, endpoint, headers)

    def handle(self, request: HttpRequest) -> None:
        """Answer a request that has arrived completely."""
        admission = request.admission
        if admission is None or request.method != "POST":
            self._take_other(admission, request)
            return
        body = request.body
        if len(body) > SMALL and is_large(body):
            self._start(_stream(request, self._take_large(admission, request)), request)
            return
        try:
            message = from_json(body)
        except ValueError as error:
            answer_refusal(request, 400, Refusal(PARSE_ERROR, f"The body is not valid JSON: {error}."))
            return
        work = self._work_on(admission, message, request)
        if work is not None:
            # With a name, because asyncio makes one up otherwise.
            request.task = task = self._loop.create_task(work, name="request")
            self._tasks.add(task)

    async def _take_large(self, admission: RequestContext, request: HttpRequest) -> None:
        """Parse the body in a thread, and answer."""
        try:
            message = await parse_any(request.body)
        except Excessive as error:
            refusal = Refusal(INVALID_REQUEST, f"The message is refused: {error}.")
            answer_refusal(request, 400, refusal, error.request_id)
        except ValueError as error:
            answer_refusal(request, 400, Refusal(PARSE_ERROR, f"The body is not valid JSON: {error}."))
        else:
            work = self._work_on(admission, message, request)
            if work is not None:
                await work

    def _work_on(self, admission: RequestContext, message: Any, request: HttpRequest) -> _Work | None:
        """What answers the message; None if it is answered."""
        if not isinstance(message, dict):
            answer_refusal(request, 400, Refusal(INVALID_REQUEST, "Send one message per request."))
            return None
        # A body without the version that its header states is refused as a modern request.
        version = modern_version(message) or admission.modern_version
        if version is not None:
            return self._answer_modern(admission, message, version, request)
        return self._answer_legacy(admission, message, request)

    def _start(self, work: _Work, request: HttpRequest) -> None:
        request.task = task = self._loop.create_task(work, name="request")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self, patience: float) -> None:
        """Let running requests finish for so many seconds, then stop."""
        if self._tasks:
            await asyncio.wait(tuple(self._tasks), timeout=patience)
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _take_other(self, admission: RequestContext | None, request: HttpRequest) -> None:
        if admission is None:
            cast(FallbackApp, self._fallback).handle(request)
        elif request.method == "GET":
            self._listen(admission.endpoint, request)
        else:
            self._end_session(admission.endpoint, request)

    def _answer_modern(
        self, admission: RequestContext, message: Message, version: str, request: HttpRequest
    ) -> _Work | None:
        method, params, endpoint = message.get("method"), message.get("params"), admission.endpoint
        name = params.get("name") if type(params) is dict else None
        snapshot = (version, name, self._core.registry.snapshot.version)
        if method != "tools/call" or admission.checked != snapshot:
            try:
                _check_modern(admission, message, version, request.headers)
            except Refusal as refusal:
                status = 404 if refusal.code == METHOD_NOT_FOUND else 400
                answer_refusal(request, status, refusal, message.get("id"))
                return None
        load = self._load
        if method == LISTEN and not load.make_room_for_client(endpoint.sessions):
            _refuse_client(request, message)
            return None
        if load.calls >= load.max_calls:
            self._refuse_call(request, message)
            return None
        exchange = Exchange(request, self._tasks)
        return exchange.run(endpoint.respond(message, exchange))

    def _answer_legacy(
        self, admission: RequestContext, message: Message, request: HttpRequest
    ) -> _Work | None:
        endpoint = admission.endpoint
        if message.get("method") == "initialize":
            return self._open_session(endpoint, message, request)
        session = endpoint.sessions.find(request.headers.get(SESSION_ID))
        if session is None:
            _refuse_session(request)
            return None
        if "method" not in message:
            session.requests.receive(message)
            request.answer(202)
            return None
        is_request, load = "id" in message, self._load
        if is_request and load.calls >= load.max_calls:
            self._refuse_call(request, message)
            return None
        if is_request and session.calls >= load.max_calls_per_session:
            text = f"{session.calls} requests of this client are running; try again shortly."
            answer_busy(request, 429, text, SOON, message["id"])
            return None
        exchange = Exchange(request, self._tasks, session.requests, session.open_stream)
        if is_request and admission.prefers_stream and session.open_stream is not None:
            exchange.stream()
        return exchange.run(endpoint.respond(message, exchange, session))

    def _open_session(
        self, endpoint: ProfileEndpoint, message: Message, request: HttpRequest
    ) -> _Work | None:
        session = endpoint.sessions.open()
        if session is None:
            _refuse_client(request, message)
            return None
        identity = ((SESSION_ID.encode(), session.id.encode()),)
        exchange = Exchange(request, self._tasks, session.requests, headers=identity)

        async def initialize() -> None:
            await exchange.run(endpoint.respond(message, exchange, session))
            if session.client.version is None:
                # It was refused: no client will use its id.
                endpoint.sessions.close(session)
            session.opened()

        return initialize()

    def _refuse_call(self, request: HttpRequest, message: Message) -> None:
        text = f"{self._load.calls} requests are running; try again shortly."
        answer_busy(request, 503, text, SOON, message.get("id"))

    def _listen(self, endpoint: ProfileEndpoint, request: HttpRequest) -> None:
        session = endpoint.sessions.find(request.headers.get(SESSION_ID))
        if session is None:
            _refuse_session(request)
            return
        found = session.streams.find(request.headers.get("last-event-id", ""))
        if found is None and session.outbox.queue is not None:
            request.say(409, "This session already has a stream.")
            return
        work = stream_changes(session, request) if found is None else resume(*found, request)
        self._start(_stream(request, work), request)

    def _end_session(self, endpoint: ProfileEndpoint, request: HttpRequest) -> None:
        session = endpoint.sessions.find(request.headers.get(SESSION_ID))
        if session is None:
            _refuse_session(request)
        else:
            endpoint.sessions.close(session)
            request.say(200, "")


async def _stream(request: HttpRequest, work: _Work) -> None:
    try:
        await work
    except Exception:
        logger.exception("a request could not be answered")
        request.fail()
    finally:
        request.task = None  # its context refers to the request: a cycle


def _is_gateways(path: str) -> bool:
    return path == ENDPOINT or path.startswith(f"{ENDPOINT}/")


def _is_json(content_type: str) -> bool:
    """Web pages can send other types to this machine without asking first."""
    return content_type.partition(";")[0].strip().lower() == "application/json"


def _names_stream_first(headers: Mapping[str, str]) -> bool:
    """Clients accept both JSON and streams; the first that they name is the one they prefer."""
    first = headers.get("accept", "").partition(",")[0]
    return first.strip().lower() == "text/event-stream"


def _refuse_session(request: HttpRequest) -> None:
    """The session is missing or unknown."""
    if SESSION_ID in request.headers:
        gone = Refusal(INVALID_REQUEST, "Session not found: open with initialize.")
        answer_refusal(request, 404, gone)
    else:
        missing = Refusal(INVALID_REQUEST, "Missing session ID: open with initialize.")
        answer_refusal(request, 400, missing)


def _refuse_client(request: HttpRequest, message: Message) -> None:
    text = "Too many clients are connected; try again later."
    answer_busy(request, 503, text, LATER, message.get("id"))


def _check_modern(
    admission: RequestContext, message: Message, version: str, headers: Mapping[str, str]
) -> None:
    """Raise a refusal when the headers of a request contradict its body."""
    check_headers(message, version, headers)
    method, params = message.get("method"), message.get("params")
    if method == "initialize":
        raise Refusal(METHOD_NOT_FOUND, "Unknown method: initialize")
    if method != "tools/call" or not isinstance(params, dict):
        return
    gateway, name = admission.endpoint.gateway, params.get("name")
    tool = gateway.find(name) if isinstance(name, str) else None
    if tool is not None and not check_parameters(tool, params.get("arguments"), headers):
        admission.checked = (version, name, gateway.host.toolset.registry.snapshot.version)


@asynccontextmanager
async def serve_http(
    host: Host,
    offer: Offer | None = None,
    *,
    address: str = "127.0.0.1",
    port: int = 0,
    allowed_hosts: Iterable[str] = (),
    fallback: FallbackApp | None = None,
) -> AsyncIterator[tuple[str, ProfileEndpoints]]:
    """Serve the endpoints that `offer` names, by default all; yields the base URL and the endpoints.

    On an address that other machines can reach, every endpoint must have a token; raises `UsageError`.
    `fallback` answers at all paths that are not the gateway's, behind the same guard and limits.
    """
    listening, public = bind(address, port)
    with contextlib.closing(listening), claimed(listening.getsockname()[1]):
        endpoints = ProfileEndpoints(host, offer or offer_all(), public=public)
        endpoints.check()
        names = {*allowed_hosts, *host.settings.gateway.allowed_hosts, address}
        application = HttpApplication(
            endpoints, HeaderCheck(hosts=frozenset(name.lower() for name in names)), fallback
        )
        opened = _Connections()
        async with endpoints.following():
            base = f"http://{shown_name(listening, allowed_hosts)}"
            listen(listening, BACKLOG)
            server = await asyncio.get_running_loop().create_server(
                lambda: HttpConnection(application, endpoints.load, opened, host.is_own_program),
                sock=listening,
                backlog=BACKLOG,
            )
            try:
                yield base, endpoints
            finally:
                server.close()
                for connection in tuple(opened):
                    connection.finish()
                if fallback is not None:
                    fallback.end()
                await endpoints.drain(GRACE)
                if fallback is not None:
                    await fallback.close(SENDING)
                await _end(application, opened)


class _Connections(set[HttpConnection]):
    """The open connections, and an event for when there are none."""

    def __init__(self) -> None:
        super().__init__()
        self._empty = asyncio.Event()

    def discard(self, connection: object) -> None:
        super().discard(connection)
        if not self:
            self._empty.set()

    async def until_empty(self) -> None:
        if self:
            self._empty.clear()
            await self._empty.wait()


async def _end(application: HttpApplication, opened: _Connections) -> None:
    """Give responses some time to be sent, then disconnect."""
    await application.close(SENDING)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(SENDING):
            await opened.until_empty()
    for connection in tuple(opened):
        connection.abort()

"""What a vendor on loopback does, request by request, whatever protocol it speaks."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tests import asgi_server
from tests.llm.wire import faithful

DEADLINE = 60.0


@dataclass(frozen=True)
class Say:
    """Words; `stop` is why they end: end, length, refused or filtered."""

    text: str
    stop: str = "end"


@dataclass(frozen=True)
class Call:
    """Calls, as name and JSON; some models say something first."""

    calls: tuple[tuple[str, str], ...]
    saying: str = ""
    stop: str = "end"
    ids: tuple[str, ...] = ()
    """Ids of the calls, where the protocol has them; else they are made up."""


@dataclass(frozen=True)
class Refuse:
    """A status other than 200."""

    status: int
    message: str
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Cut:
    """The connection breaks in the middle; `clean` ends the stream in order, but before its last event."""

    text: str
    clean: bool = False


@dataclass(frozen=True)
class Hold:
    """Begins to speak, and never goes on."""

    text: str


@dataclass(frozen=True)
class Raw:
    """A stream byte by byte as it stands here."""

    stream: bytes


Step = Say | Call | Refuse | Cut | Hold | Raw


def call(*calls: tuple[str, Any], saying: str = "", stop: str = "end", ids: tuple[str, ...] = ()) -> Call:
    """Calls with arguments as objects, or as text to be sent as it is."""
    written = tuple((name, given if isinstance(given, str) else json.dumps(given)) for name, given in calls)
    return Call(written, saying, stop, ids)


class Script:
    """The steps of one vendor, and what it was asked."""

    def __init__(self, *steps: Step, slowly: bool = False) -> None:
        self.steps = list(steps)
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.complaints: list[str] = []
        """What a real vendor would have refused."""
        self.rule: Callable[[dict[str, Any]], str] = lambda body: ""
        """Why a request is refused with 400, where the vendor's documentation says so."""
        self.slowly = slowly
        self.speaking = asyncio.Event()
        self.hung_up = asyncio.Event()

    def next(self) -> Step:
        """The step for the request that came last; the last one is repeated."""
        return self.steps[min(len(self.requests), len(self.steps)) - 1]


@dataclass(frozen=True)
class Result:
    """A tool's answer as the vendor was told it."""

    call: str
    text: str
    failed: bool
    images: int


class Protocol5(Protocol):
    """One of the five: how it streams, and how its requests are read."""

    name: str
    path: str
    variable: str
    key: str

    def address(self, base: str) -> str:
        """What its variable is set to."""

    def check(self, body: dict[str, Any], headers: dict[str, str]) -> list[str]:
        """What a real vendor would refuse of a request."""

    def write(self, step: Say | Call | Cut | Hold, turn: int) -> list[bytes]:
        """The stream, piece by piece; the last piece ends it."""

    def refuse(self, step: Refuse) -> dict[str, Any]:
        """The body of an error."""

    def results(self, body: dict[str, Any]) -> list[Result]:
        """The answers of tools in a request, all of them."""

    def tools(self, body: dict[str, Any]) -> list[str]:
        """The names of the tools that were offered."""


def sse(data: dict[str, Any] | str, event: str = "") -> bytes:
    """One server-sent event."""
    text = data if isinstance(data, str) else json.dumps(data)
    return f"{f'event: {event}' + chr(10) if event else ''}data: {text}\n\n".encode()


def stop_of(step: Step) -> str:
    """Why a step ends."""
    return step.stop if isinstance(step, Say | Call) else "end"


def id_of(step: Call, number: int, otherwise: str) -> str:
    """The id of a call."""
    return step.ids[number] if number < len(step.ids) else otherwise


def pieces(text: str, size: int = 5) -> list[str]:
    """Text in small pieces."""
    return [text[start : start + size] for start in range(0, len(text), size)] or [""]


class BrokenOff(Exception):
    """Ends a response without its end."""


def application(protocol: Protocol5, script: Script) -> Starlette:
    """The vendor."""

    async def answer(request: Request) -> Response:
        try:
            body = faithful.read(await request.body())
        except ValueError as error:
            script.complaints.append(f"invalid JSON: {error}")
            return JSONResponse(protocol.refuse(Refuse(400, "invalid JSON")), status_code=400)
        script.requests.append(body)
        headers = dict(request.headers)
        script.headers.append(headers)
        script.complaints += protocol.check(body, headers)
        step = script.next()
        if refusal := script.rule(body):
            step = Refuse(400, refusal)
        if isinstance(step, Refuse):
            return JSONResponse(protocol.refuse(step), status_code=step.status, headers=step.headers)
        stream = _stream(protocol, script, step)
        kind = "application/x-ndjson" if protocol.name == "ollama" else "text/event-stream"
        return StreamingResponse(stream, media_type=kind)

    async def other(request: Request) -> Response:
        return JSONResponse({"error": "not found"}, status_code=404)

    return Starlette(
        routes=[
            Route(protocol.path, answer, methods=["POST"]),
            Route("/{rest:path}", other, methods=["GET", "POST"]),
        ]
    )


async def _stream(
    protocol: Protocol5, script: Script, step: Say | Call | Cut | Hold | Raw
) -> AsyncIterator[bytes]:
    written = [step.stream] if isinstance(step, Raw) else protocol.write(step, len(script.requests))
    if isinstance(step, Cut | Hold):
        written = written[: len(written) // 2]
    try:
        for piece in written:
            for part in [piece[i : i + 1] for i in range(len(piece))] if script.slowly else [piece]:
                yield part
                await asyncio.sleep(0)
            script.speaking.set()
        if isinstance(step, Hold):
            await asyncio.sleep(DEADLINE)
    except (asyncio.CancelledError, GeneratorExit):
        script.hung_up.set()
        raise
    if isinstance(step, Cut) and not step.clean:
        raise BrokenOff


@asynccontextmanager
async def serving(protocol: Protocol5, script: Script) -> AsyncIterator[str]:
    """The vendor on loopback, and its address."""
    async with asgi_server.serving(application(protocol, script)) as address:
        yield address

"""`POST /api/OPERATION`: runs an operation for the page and returns JSON, compressed with gzip if it is
large, or a stream of events, with a heartbeat."""

from __future__ import annotations

import asyncio
import logging
import zlib
from collections.abc import AsyncGenerator
from typing import Any

from pydantic_core import from_json
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from toolcrib.errors import NotFound, ToolcribError, UsageError
from toolcrib.host import Host
from toolcrib.operations.operation import CheckedParams, Invocation, Operation
from toolcrib.operations.registry import find_operation
from toolcrib.schema.deciders import decider, deciding
from toolcrib.schema.system_failures import explained
from toolcrib.serverkit.encoding import Excessive, encode, encode_any, is_large, parse_any
from toolcrib.tasks import cancel_and_wait
from toolcrib.web.answers import accepts, error_json, status_of, unexpected

logger = logging.getLogger(__name__)

QUEUE = 100
"""Events queued for a slow page; if there are more, the operation waits."""
HEARTBEAT = 10.0
WORTH_COMPRESSING = 1_000
"""Bytes of JSON; compressing them takes 20 microseconds, which a tunnel to another machine pays back."""
LEVEL = 1
"""A quarter of the size in 1.6 ms for 200 kB; level 6 saves a fifth more and takes five times as long."""
LONG_WORK = 250_000
"""Bytes whose compression would hold the event loop for more than two milliseconds."""
GZIP = zlib.MAX_WBITS | 16
_END = object()


class JsonAnswer(Response):
    """JSON, compressed if it is large and the client accepts gzip.

    The length of a compressed body can give away a secret that stands beside text of an attacker who also
    makes the browser repeat the request (BREACH). No answer has the value of a stored secret in it, keys and
    tokens that are shown once are in answers too short to be compressed, and no other site can make a browser
    send the key that every request needs.
    """

    media_type = "application/json"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if len(self.body) >= WORTH_COMPRESSING:
            self.headers["vary"] = "Accept-Encoding"
            if accepts(Headers(scope=scope).get("accept-encoding", ""), "gzip"):
                long = len(self.body) >= LONG_WORK
                self.body = await asyncio.to_thread(_compress, self.body) if long else _compress(self.body)
                self.headers["content-encoding"] = "gzip"
                self.headers["content-length"] = str(len(self.body))
        await super().__call__(scope, receive, send)


def _compress(body: bytes | memoryview) -> bytes:
    compressor = zlib.compressobj(LEVEL, wbits=GZIP)
    return compressor.compress(body) + compressor.flush()


class EventStream(StreamingResponse):
    """Server-sent events. The generator is closed with the response, not when it is garbage-collected."""

    def __init__(self, events: AsyncGenerator[bytes, None]) -> None:
        super().__init__(events, media_type="text/event-stream", headers={"x-accel-buffering": "no"})
        self._events = events

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._events.aclose()


def answer(value: Any, status: int = 200) -> Response:
    return JsonAnswer(encode(value), status)


def failed(error: ToolcribError) -> Response:
    return answer(error_json(error), status_of(error))


async def operate(host: Host, request: Request) -> Response:
    """Run the operation named in the path."""
    name = request.path_params["operation"]
    try:
        operation = _offered(name)
        params = operation.read(await read_body(request))
    except ToolcribError as error:
        return failed(error)
    if "text/event-stream" in request.headers.get("accept", ""):
        return EventStream(_stream(host, operation, params, decider()))
    try:
        result = await _run(host, operation, params, Invocation(from_page=True))
        body = await encode_any(result)
        kind = JsonAnswer if len(body) >= WORTH_COMPRESSING else Response
        return kind(body, media_type="application/json")
    except ToolcribError as error:
        return failed(error)


async def read_body(request: Request) -> Any:
    """Parse a request body strictly; raises `UsageError`."""
    body = await request.body()
    if not body:
        return {}
    try:
        value = await parse_any(body) if is_large(body) else from_json(body, allow_inf_nan=False)
    except Excessive as error:
        raise UsageError(f"The body is refused: {error}.") from None
    except ValueError as error:
        raise UsageError(f"The body is not JSON: {error}.") from None
    if not isinstance(value, dict):
        raise UsageError("The body must be a JSON object.")
    return value


def _offered(name: str) -> Operation[..., Any]:
    operation = find_operation(name)
    if not operation.page:
        raise NotFound(f"There is no operation {name!r} for pages.")
    return operation


async def _run(
    host: Host, operation: Operation[..., Any], params: CheckedParams, invocation: Invocation[Any]
) -> Any:
    try:
        return await operation.run(host, params, invocation)
    except ToolcribError:
        raise
    except Exception as error:  # the edge of a surface
        logger.exception("operation failed", extra={"operation": operation.name})
        raise explained(error) or unexpected() from error


async def _stream(
    host: Host, operation: Operation[..., Any], params: CheckedParams, by: str
) -> AsyncGenerator[bytes, None]:
    """Events as they occur, then the result or the error; a disconnect cancels the operation."""
    queue: asyncio.Queue[Any] = asyncio.Queue(QUEUE)

    async def emit(event: Any) -> None:
        await queue.put(("event", event))

    async def work() -> None:
        try:
            with deciding(by):
                result = await _run(host, operation, params, Invocation(emit=emit, from_page=True))
            await queue.put(("result", result))
        except ToolcribError as error:
            await queue.put(("error", error_json(error)["error"]))
        await queue.put(_END)

    task = asyncio.create_task(work(), name=f"page operation {operation.name}")
    try:
        while True:
            try:
                async with asyncio.timeout(HEARTBEAT):
                    item = await queue.get()
            except TimeoutError:
                yield b":\n\n"
                continue
            if item is _END:
                return
            kind, value = item
            yield b"event: %b\ndata: %b\n\n" % (kind.encode(), await encode_any(value))
    finally:
        await cancel_and_wait(task)

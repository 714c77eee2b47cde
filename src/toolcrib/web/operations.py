"""`POST /api/OPERATION`: the operations of the host for the page, as one answer or as a stream of events."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from typing import Any

from pydantic_core import from_json
from starlette.requests import Request
from starlette.responses import Response

from toolcrib.control.dispatch import find_operation, read_params
from toolcrib.control.needs import Operation
from toolcrib.control.surface import asked_from
from toolcrib.errors import NotFound, ToolcribError, UsageError
from toolcrib.host import Host
from toolcrib.serverkit.encoding import encode
from toolcrib.tasks import cancel_and_wait
from toolcrib.web.answers import error_json, status_of, unexpected
from toolcrib.web.event_stream import EventStream
from toolcrib.web.page_operations import is_offered

logger = logging.getLogger(__name__)

QUEUE = 100
"""Events that wait for a page that reads slowly; then the operation waits too."""
HEARTBEAT = 10.0
_END = object()


def answer(value: Any, status: int = 200) -> Response:
    """A JSON answer."""
    return Response(encode(value), status, media_type="application/json")


def failed(error: ToolcribError) -> Response:
    """The answer to what went wrong."""
    return answer(error_json(error), status_of(error))


async def operate(host: Host, request: Request) -> Response:
    """Run the operation that the path names."""
    name = request.path_params["operation"]
    try:
        operation = _offered(name)
        params = read_params(operation, read_body(await request.body()))
    except ToolcribError as error:
        return failed(error)
    if _wants_stream(request):
        return EventStream(_stream(host, name, operation, params))
    try:
        return answer(await _run(host, name, operation, params, _say_nothing))
    except ToolcribError as error:
        return failed(error)


def read_body(body: bytes) -> Any:
    """What a page sent, read strictly; raises `UsageError`."""
    if not body:
        return {}
    try:
        found = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise UsageError(f"The body is no JSON: {error}.") from None
    if not isinstance(found, dict):
        raise UsageError("The body must be a JSON object.")
    return found


def _offered(name: str) -> Operation:
    operation = find_operation(name)
    if not is_offered(operation):
        raise NotFound(f"There is no operation {name!r} for pages.")
    return operation


def _wants_stream(request: Request) -> bool:
    return "text/event-stream" in request.headers.get("accept", "")


async def _say_nothing(event: Any) -> None:
    pass


async def _run(host: Host, name: str, operation: Operation, params: Any, emit: Any) -> Any:
    asked_from.set("page")
    try:
        return await operation.run(host, params, emit)
    except ToolcribError:
        raise
    except Exception as error:  # the edge of a surface
        logger.exception("operation failed", extra={"operation": name})
        raise unexpected() from error


async def _stream(host: Host, name: str, operation: Operation, params: Any) -> AsyncGenerator[bytes, None]:
    """Events as they come, then how it ended; whoever stops reading cancels the operation."""
    queue: asyncio.Queue[Any] = asyncio.Queue(QUEUE)

    async def work() -> None:
        try:
            result = await _run(host, name, operation, params, lambda event: queue.put(("event", event)))
            await queue.put(("result", result))
        except ToolcribError as error:
            await queue.put(("error", error_json(error)["error"]))
        await queue.put(_END)

    task = asyncio.create_task(work(), name=f"page operation {name}")
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
            yield b"event: %b\ndata: %b\n\n" % (kind.encode(), encode(value))
    finally:
        await cancel_and_wait(task)

"""`POST /hooks/TOKEN`: passes requests to the webhooks of workflows; no page key is needed.

The token is part of the path, so the path is never logged. Few requests may wait for the end of their run.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from toolcrib.errors import Denied, NotFound, ServerUnavailable, ToolcribError, UsageError
from toolcrib.host import Host
from toolcrib.web.answers import error_json, status_of, unexpected
from toolcrib.web.operations import answer

MOST_AT_ONCE = 128
"""Requests that are worked on; the page needs room too."""
_STATUS = {"too_many_requests": 429, "body_too_large": 413, "bad_signature": 401, "bad_body": 400}


class Hooks:
    def __init__(self, host: Host) -> None:
        self._host = host
        self._running = 0

    async def receive(self, request: Request) -> Response:
        if self._running >= MOST_AT_ONCE:
            return _failed(ServerUnavailable("Too many requests; try again shortly."))
        self._running += 1
        try:
            return await self._receive(request)
        except (NotFound, UsageError, Denied, ServerUnavailable) as error:
            return _failed(error)
        except ToolcribError as error:
            return _failed(error if error.kind in _STATUS else unexpected())
        finally:
            self._running -= 1

    async def _receive(self, request: Request) -> Response:
        from toolcrib.features.workflows.webhooks.request import HookRequest

        received = HookRequest(
            headers=dict(request.headers),
            query=request.url.query,
            body=await request.body(),
        )
        receiver = self._host.workflows.triggers.receiver
        found = await receiver.receive(request.path_params["token"], received)
        return answer(dict(found.content), 202 if found.accepted else 200)


def _failed(error: ToolcribError) -> Response:
    response = answer(error_json(error), _STATUS.get(error.kind, status_of(error)))
    if error.retryable:
        response.headers["retry-after"] = str(getattr(error, "wait", 1))
    return response

"""`POST /hooks/TOKEN`: passes requests to the webhooks of workflows; no page key is needed. Decides requests
at once and status codes (404, 413, 429).

Few requests may wait for the end of their run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from toolcrib.errors import Denied, NotFound, ServerUnavailable, ToolcribError, UsageError
from toolcrib.features.workflows.webhooks.tokens import HOOKS as PREFIX
from toolcrib.gateway.http.request import HttpRequest
from toolcrib.web.answers import error_json, refuse, status_of, unexpected

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    from toolcrib.host import Host

__all__ = ["PREFIX", "check_head", "routes"]

MOST_AT_ONCE = 128
"""Requests that are worked on; the page needs room too."""
_LONGEST_TOKEN = 100
_STATUS = {"too_many_requests": 429, "body_too_large": 413, "bad_signature": 401, "bad_body": 400}


def check_head(request: HttpRequest) -> None:
    """Refuse by the headers what no webhook accepts."""
    from toolcrib.features.workflows.triggers.webhook import LARGEST_BODY

    token = request.path.removeprefix(PREFIX)
    if not token or len(token) > _LONGEST_TOKEN or "/" in token or "." in token:
        refuse(request, 404, "not_found", "There is no such webhook.")
    elif request.method != "POST":
        refuse(request, 405, "usage", "Only POST is supported here.", headers=((b"allow", b"POST"),))
    elif request.head.length > LARGEST_BODY:
        refuse(request, 413, "body_too_large", f"The body may have at most {LARGEST_BODY:,} bytes.")


def routes(host: Host) -> Sequence[Route]:
    from starlette.routing import Route

    return [Route(f"{PREFIX}{{token}}", Hooks(host).receive, methods=["POST"])]


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
        from toolcrib.web.operations import answer

        received = HookRequest(
            headers=dict(request.headers),
            query=request.url.query,
            body=await request.body(),
        )
        receiver = self._host.workflows.triggers.receiver
        found = await receiver.receive(request.path_params["token"], received)
        return answer(dict(found.content), 202 if found.accepted else 200)


def _failed(error: ToolcribError) -> Response:
    from toolcrib.web.operations import answer

    response = answer(error_json(error), _STATUS.get(error.kind, status_of(error)))
    if error.retryable:
        response.headers["retry-after"] = str(getattr(error, "wait", 1))
    return response

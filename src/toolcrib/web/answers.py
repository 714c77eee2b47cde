"""Errors as the interface tells them: `{"error": {kind, message, hint}}` and the status that fits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from toolcrib.control import failures
from toolcrib.errors import (
    AuthRequired,
    CallFailed,
    ConfigError,
    Denied,
    HostRunning,
    ModelError,
    NotFound,
    NotTrusted,
    ServerUnavailable,
    ToolcribError,
    UsageError,
)
from toolcrib.gateway.http.request import JSON, Header, HttpRequest
from toolcrib.serverkit.encoding import encode
from toolcrib.web.headers import NEVER_KEPT, SECURITY

_STATUS: tuple[tuple[type[ToolcribError], int], ...] = (
    (UsageError, 400),
    (ConfigError, 400),
    (NotFound, 404),
    (Denied, 403),
    (NotTrusted, 403),
    (HostRunning, 409),
    (AuthRequired, 503),
    (ServerUnavailable, 503),
    (CallFailed, 502),
    (ModelError, 502),
)


def status_of(error: ToolcribError) -> int:
    """The HTTP status of an error of ours."""
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def error_json(error: ToolcribError) -> dict[str, Any]:
    """The body of a failed answer."""
    return {"error": failures.to_json(error)}


def unexpected() -> ToolcribError:
    """What a page is told of a mistake of ours: nothing of what it was about, which may be secret."""
    return ToolcribError(
        "Something went wrong inside.",
        hint="This is a fault of Toolcrib. What happened stands in the host's log.",
    )


def refuse(
    request: HttpRequest,
    status: int,
    kind: str,
    message: str,
    *,
    hint: str = "",
    headers: Iterable[Header] = (),
) -> None:
    """Answer a request that does not get as far as the application."""
    body = encode({"error": {"kind": kind, "message": message, "hint": hint, "retryable": False}})
    request.answer(status, body, JSON, (*SECURITY, NEVER_KEPT, *headers))

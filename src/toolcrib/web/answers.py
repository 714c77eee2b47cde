"""Errors of the API: `{"error": {kind, message, hint}}`, with the HTTP status of each kind; the security
headers of every response (Content-Security-Policy); and which compression a client accepts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

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
from toolcrib.schema import failures
from toolcrib.serverkit.encoding import encode

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "font-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'none'",
    )
)
SECURITY: tuple[tuple[bytes, bytes], ...] = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
NO_STORE = (b"cache-control", b"no-store")

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
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def error_json(error: ToolcribError) -> dict[str, Any]:
    return {"error": failures.to_json(error)}


def unexpected() -> ToolcribError:
    """The error for an unexpected exception; without details, which may be secret."""
    return ToolcribError(
        "Internal error.",
        hint="This is a bug in Toolcrib. The host's log has the details.",
    )


def accepts(accepted: str, coding: str) -> bool:
    """Whether an `Accept-Encoding` names this coding, and not with a weight of 0."""
    for part in accepted.split(","):
        name, _, weight = part.replace(" ", "").partition(";q=")
        if name.lower() == coding:
            return weight.strip("0.") != "" or weight == ""
    return False


def refuse(
    request: HttpRequest,
    status: int,
    kind: str,
    message: str,
    *,
    hint: str = "",
    headers: Iterable[Header] = (),
) -> None:
    """Answer a request before it reaches the application."""
    body = encode({"error": {"kind": kind, "message": message, "hint": hint, "retryable": False}})
    request.answer(status, body, JSON, (*SECURITY, NO_STORE, *headers))

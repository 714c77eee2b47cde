"""Requests to webhooks, refused by their headers or passed on; their paths contain a token."""

from __future__ import annotations

from toolcrib.features.workflows.webhooks.tokens import HOOKS
from toolcrib.gateway.http.request import HttpRequest
from toolcrib.web.answers import refuse

LARGEST = 4 * 1024 * 1024
"""Bytes; each webhook has a limit of its own below this."""
_LONGEST_TOKEN = 100


def is_hook(path: str) -> bool:
    return path.startswith(HOOKS) or path == HOOKS.rstrip("/")


def meet_hook(request: HttpRequest) -> None:
    """Refuse by the headers what no webhook accepts."""
    token = request.path.removeprefix(HOOKS)
    if not token or len(token) > _LONGEST_TOKEN or "/" in token or "." in token:
        refuse(request, 404, "not_found", "There is no such webhook.")
    elif request.method != "POST":
        refuse(request, 405, "usage", "Only POST is supported here.", headers=((b"allow", b"POST"),))
    elif request.head.length > LARGEST:
        refuse(request, 413, "body_too_large", f"The body may have at most {LARGEST:,} bytes.")


def path_for_logs(path: str) -> str:
    """The path without the token of a webhook."""
    return f"{HOOKS}…" if is_hook(path) else path

"""Checks what a token or registration endpoint answers, so that no error or log repeats a secret of it."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import parse_qsl, quote, quote_plus

import httpx2

from toolcrib.errors import AuthRequired
from toolcrib.serverkit.network.policy import shown

TOKEN_PATTERN = r"^[\x21-\x7e]+$"  # noqa: S105 - a pattern
"""A token that can be sent as a header."""
_PRINTABLE = r"[\x20-\x7e]*"
_HINT = "Try again, or ask the server's operator."
_SHORTEST = 6
"""Shorter values are masked only if they are the whole text: `code` could stand in any sentence."""
_PUBLIC = frozenset({"grant_type", "redirect_uri", "client_id", "resource"})


def check_answer(request: httpx2.Request, response: httpx2.Response) -> None:
    """Raise `AuthRequired` unless the answer to a registration or a token request can be used."""
    what, required = ("token request", "access_token") if _form(request) else ("registration", "client_id")
    answer = _object(response)
    if not response.is_success:
        reason = masked(_reason(answer), request)
        raise AuthRequired(
            f"The issuer refused the {what} (HTTP {response.status_code}){reason and f': {reason}'}.",
            hint=_HINT,
        )
    if not _usable(answer, required):
        raise AuthRequired(f"The issuer's answer to the {what} is invalid.", hint=_HINT)


def masked(text: str, request: httpx2.Request) -> str:
    """Text of the issuer without what was sent to it, and without characters that are not printable."""
    values = [value for name, value in _form(request) if name not in _PUBLIC]
    values.append(request.headers.get("Authorization", "").rpartition(" ")[2])
    known = {form for value in values for form in (value, quote(value, safe=""), quote_plus(value))}
    for value in sorted(known, key=len, reverse=True):
        if len(value) >= _SHORTEST or value == text:
            text = text.replace(value, "***")
    return shown(text, 300)


def _form(request: httpx2.Request) -> list[tuple[str, str]]:
    if not request.headers.get("Content-Type", "").startswith("application/x-www-form-urlencoded"):
        return []
    return parse_qsl(request.content.decode("ascii", "replace"))


def _object(response: httpx2.Response) -> dict[str, Any]:
    try:
        found = json.loads(response.content)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _reason(answer: dict[str, Any]) -> str:
    """The two members of RFC 6749, section 5.2, and nothing else of the answer."""
    return ", ".join(str(answer[name]) for name in ("error", "error_description") if answer.get(name))


def _usable(answer: dict[str, Any], required: str) -> bool:
    """Checked here, because the SDK's error and its log entry would repeat the values."""
    patterns = {
        "access_token": TOKEN_PATTERN,
        "refresh_token": _PRINTABLE,
        "client_id": _PRINTABLE,
        "client_secret": _PRINTABLE,
        "scope": _PRINTABLE,
        "token_type": "(?i)bearer",
    }
    texts = {name: answer[name] for name in patterns if answer.get(name) is not None}
    fine = all(isinstance(text, str) and re.fullmatch(patterns[name], text) for name, text in texts.items())
    lifetime = re.fullmatch(r"None|\d{1,12}", str(answer.get("expires_in")))
    return fine and lifetime is not None and required in texts

"""A request to a webhook: its signature, and the event that its run sees (types of bodies, which headers are
left out, limits of JSON and forms).

The signature is an HMAC with SHA-256 over the time and the body, or over the body alone. With a time, a
request is valid for a few minutes, and each signature once. Without one, the same body is accepted once a
month: that is how long occurrences are remembered.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from urllib.parse import parse_qsl

from pydantic import Field
from pydantic_core import from_json

from toolcrib.errors import Denied, UsageError
from toolcrib.features.workflows.trigger_type import TriggerSettings

JSON, FORM, TEXT = "application/json", "application/x-www-form-urlencoded", "text/"
DEEPEST = 64
"""Levels of a JSON body."""
MOST_FIELDS = 1000
MOST_HEADERS = 100
_KEPT = ("content-type", "user-agent")
"""Headers that the event has besides those that begin with `x-`."""
_SECRET = ("authorization", "cookie", "signature", "token", "secret", "key", "password")
"""A header with one of these in its name is left out."""


class BadBody(UsageError):
    """The body cannot be read."""

    kind = "bad_body"


@dataclass(frozen=True, kw_only=True)
class HookRequest:
    headers: Mapping[str, str]
    """With lower-case names."""
    query: str
    body: bytes

    @property
    def content_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


def event_of(request: HookRequest, now: datetime) -> dict[str, Any]:
    """What `{{event.…}}` refers to; raises `BadBody`."""
    shown = {name: value for name, value in request.headers.items() if _is_shown(name)}
    return {
        "body": read_hook_body(request),
        "query": dict(parse_qsl(request.query[:8192], keep_blank_values=True, max_num_fields=100)),
        "headers": dict(list(shown.items())[:MOST_HEADERS]),
        "received": now.isoformat(),
    }


def read_hook_body(request: HookRequest) -> Any:
    """JSON as its value, a form as an object, text as text; nothing as null."""
    kind = request.content_type
    if not request.body:
        return None
    if kind == JSON or kind.endswith("+json"):
        return _json(request.body)
    if kind == FORM:
        return _form(_decoded(request.body))
    if kind.startswith(TEXT) or not kind:
        return _decoded(request.body)
    raise BadBody(f"A body of the type {kind[:100]} is not supported.", hint="Send JSON, a form or text.")


def _json(body: bytes) -> Any:
    try:
        value = from_json(body, allow_inf_nan=False)
    except (ValueError, RecursionError) as error:
        raise BadBody("The body is not valid JSON.") from error
    if _depth(value) > DEEPEST:
        raise BadBody(f"The JSON of the body has more than {DEEPEST} levels.")
    return value


def _depth(value: Any) -> int:
    """Counted without recursion, up to one more than is allowed."""
    level, depth = [value], 0
    while level and depth <= DEEPEST:
        depth += 1
        level = [inner for outer in level for inner in _inside(outer)]
    return depth


def _inside(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _form(text: str) -> dict[str, str]:
    try:
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS))
    except ValueError as error:
        raise BadBody(f"The form has more than {MOST_FIELDS} fields.") from error


def _decoded(body: bytes) -> str:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadBody("The body is not UTF-8 text.") from error


def _is_shown(name: str) -> bool:
    if any(part in name for part in _SECRET):
        return False
    return name in _KEPT or name.startswith("x-")


class SignatureSettings(TriggerSettings):
    secret: str = Field(min_length=1, max_length=100)
    """The name of the secret, as given to `toolcrib secret set`."""
    header: str = Field(default="X-Signature", min_length=1, max_length=100)
    """The header with the signature; `sha256=` may precede it."""
    encoding: Literal["hex", "base64"] = "hex"
    timestamp_header: str | None = Field(default="X-Timestamp", max_length=100)
    """The header with the time in seconds since 1970. `TIME.BODY` is signed; without one, the body."""
    tolerance: float = Field(default=300, ge=1, le=3600)
    """Seconds by which that time may differ from ours."""


class BadSignature(Denied):
    """The signature is missing, wrong or too old."""

    kind = "bad_signature"


def check_signature(request: HookRequest, settings: SignatureSettings, secret: str, now: datetime) -> str:
    """A digest that is the same for a replayed request; raises `BadSignature`, which gives no details."""
    given = _given(request.headers.get(settings.header.lower(), ""), settings.encoding)
    time = _time(request, settings, now)
    signed = request.body if time is None else time.encode() + b"." + request.body
    expected = hmac.new(secret.encode(), signed, hashlib.sha256).digest()
    if not hmac.compare_digest(given, expected):
        raise BadSignature("The signature is not valid.")
    return expected.hex()


def _given(header: str, encoding: str) -> bytes:
    text = header.strip().removeprefix("sha256=")
    try:
        return bytes.fromhex(text) if encoding == "hex" else base64.b64decode(text, validate=True)
    except (ValueError, binascii.Error):
        return b""


def _time(request: HookRequest, settings: SignatureSettings, now: datetime) -> str | None:
    if settings.timestamp_header is None:
        return None
    text = request.headers.get(settings.timestamp_header.lower(), "").strip()
    if not (text.isascii() and text.isdigit() and len(text) <= 12):
        raise BadSignature("The signature is not valid.")
    if abs(int(text) - now.timestamp()) > settings.tolerance:
        raise BadSignature("The signature is too old.")
    return text

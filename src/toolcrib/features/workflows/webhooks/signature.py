"""Checks the signature of a request: an HMAC with SHA-256 over its time and body, or over its body alone.

With a time, a request is valid for a few minutes, and each signature once. Without one, the same body is
accepted once a month: that is how long occurrences are remembered.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from datetime import datetime
from typing import Literal

from pydantic import Field

from toolcrib.errors import Denied
from toolcrib.features.workflows.trigger_type import TriggerSettings
from toolcrib.features.workflows.webhooks.request import HookRequest


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

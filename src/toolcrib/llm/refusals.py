"""Turns a vendor's refusal into one of our errors: whose fault it is, and what to do about it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from toolcrib.errors import ContextTooLong, ModelBusy, ModelError, ModelKeyRefused, NoModel
from toolcrib.llm.context import Vendor, key_hint

_BUSY = {408, 409, 429, 500, 502, 503, 504, 529}
_TOO_LONG = (
    "context_length",
    "context length",
    "context window",
    "prompt is too long",
    "maximum context",
    "too many tokens",
    "exceeds the maximum number of tokens",
    "request_too_large",
)
_LONGEST = 500


def translate(
    vendor: Vendor, key_name: str, status: int, headers: Mapping[str, str], text: str
) -> ModelError:
    """The error for an HTTP status and what came with it."""
    said = reason(text) or f"HTTP {status}"
    if status in (401, 403):
        where = f"from {key_name}, {status}" if key_name else str(status)
        return ModelKeyRefused(
            f"{vendor.title} does not take the key ({where}): {said}", hint=key_hint(vendor, key_name)
        )
    if status == 413 or (status in (400, 422) and _is_too_long(text)):
        return ContextTooLong(f"{vendor.title} finds the chat too long: {said}", hint="Begin a new chat.")
    if status in _BUSY:
        word = "is busy" if status in (429, 503, 529) else "has trouble"
        wait = retry_after(headers)
        return ModelBusy(f"{vendor.title} {word} ({status}): {said}", hint="Try again in a while.", wait=wait)
    if status == 404:
        return NoModel(f"{vendor.title} says: {said}", hint="See the models there are: toolcrib models")
    return ModelError(f"{vendor.title} refused the request: {said}")


def complain(vendor: Vendor, error: Any) -> ModelError:
    """The error for what a vendor says in the middle of its answer."""
    text = json.dumps(error)
    said = reason(text) or text[:_LONGEST]
    if _is_too_long(text):
        return ContextTooLong(f"{vendor.title} finds the chat too long: {said}", hint="Begin a new chat.")
    if any(word in text for word in ("overloaded", "rate_limit", "server_error", "UNAVAILABLE")):
        return ModelBusy(f"{vendor.title} is busy: {said}", hint="Try again in a while.")
    return ModelError(f"{vendor.title} failed: {said}")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the vendor asks for; None when it says nothing that can be understood."""
    try:
        return max(0.0, float(headers.get("retry-after", "")))
    except ValueError:
        return None


def reason(text: str) -> str:
    """The vendor's own words, out of the few shapes that vendors use."""
    try:
        found: Any = json.loads(text)
    except ValueError:
        return " ".join(text.split())[:_LONGEST]
    if isinstance(found, list) and found:
        found = found[0]
    if isinstance(found, dict) and "error" in found:
        found = found["error"]
    if isinstance(found, dict):
        found = found.get("message") or found.get("detail") or found.get("type")
    return found[:_LONGEST] if isinstance(found, str) else ""


def _is_too_long(text: str) -> bool:
    lowered = text.lower()
    return any(words in lowered for words in _TOO_LONG)

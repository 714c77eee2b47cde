"""Turns a vendor's error response into one of our errors, with a hint: status codes and phrases for busy,
rate limit, wrong key, no credit, too long, pictures refused; and the wait that the vendor asks for.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from toolcrib.errors import ContextTooLong, ModelBusy, ModelError, ModelKeyRefused, NoModel
from toolcrib.llm.context import ModelVendor, key_hint
from toolcrib.llm.json_values import decode, encode

_BUSY = {408, 409, 429, 500, 502, 503, 504, 529}
_TOO_LONG = re.compile(
    r"context[_ ]length|context[_ ]window|context[_ ]size|context limit|context overflow|maximum context"
    r"|max(?:imum)? context|prompt (?:is )?too long|input (?:is|was) too long|input too long"
    r"|maximum (?:prompt|input|model) length|maximum allowed (?:input )?length"
    r"|too many (?:input )?tokens|exceeds? the maximum (?:number of tokens|length)|request_too_large"
    r"|exceeded? model token limit|(?:input )?length of the messages|too large for model with"
    r"|tokens to keep from the initial prompt|`?inputs`? tokens \+|range of input length"
    r"|input is too large to process|longer than the model"
)
"""As reported by Anthropic, Cerebras, Cohere, DashScope, Fireworks, Gemini, Groq, llama.cpp, LM Studio,
Mistral, Moonshot, Ollama, OpenAI, OpenRouter, SGLang, TGI, vLLM and xAI."""
_TOO_LARGE_TO_EVER_FIT = re.compile(r"request too large|request_too_large")
_EXHAUSTED = re.compile(
    r"insufficient_quota|billing_hard_limit|credit balance is too low"
    r"|insufficient[_ ](?:account )?(?:balance|credits?|funds)|out of credits|no credits"
    r"|quota has been used up|used all available credits|monthly spending limit"
)
_PERHAPS_EXHAUSTED = "exceeded your current quota"
"""Gemini reports this for the quota of a minute too, with the time to retry."""
_BAD_KEY = re.compile(r"api[_ ]key[_ ](?:not valid|invalid)|invalid[_ ]api[_ ]key|incorrect api key")
_BUSY_WORDS = re.compile(
    r"overloaded|rate[_ ]limit|server_error|internal_error|internal server error|api_error|unavailable"
    r"|timeout|timed out|resource_exhausted|too many requests|temporarily"
    r'|"(?:code|status)":\s*"?(?:408|429|500|502|503|504|529)\b'
)
_PICTURES = re.compile(r"\bimages?\b|image_url|vision|multi-?modal|mmproj")
_NO_PICTURES = re.compile(
    r"(?:not|n't|no endpoints found that) support|mmproj|not a multi-?modal|not enabled|not loaded|at most 0"
    r"|unknown variant|must be a string|text[- ]only"
)
_SUMMARIES = re.compile(r"reasoning[._ ]summar|verified to generate reasoning")
_MISSING_LOCALLY = re.compile(r"model [\"']?([\w./:-]+?)[\"']? not found|pull(?:ing)? it first")
_RETRY_DELAY = re.compile(r'"retryDelay":\s*"([0-9.]+)s"')
_PER_DAY = re.compile(r"per_?day")
_LONGEST = 500


class SummariesRefused(ModelError):
    """A rejection of the request for summaries of the reasoning, which some accounts may not have."""


class PicturesRefused(ModelError):
    """A rejection whose message mentions pictures."""

    def __init__(self, message: str, *, blind: bool) -> None:
        super().__init__(message)
        self.blind = blind
        """The model accepts no pictures at all."""


def translate(
    vendor: ModelVendor, key_name: str, status: int, headers: Mapping[str, str], text: str
) -> ModelError:
    """The error for an HTTP status and body."""
    said = reason(text) or f"HTTP {status}"
    lowered = text.lower()
    if status in (401, 403) or (status == 400 and _BAD_KEY.search(lowered)):
        where = f"from {key_name}, {status}" if key_name else str(status)
        return ModelKeyRefused(
            f"{vendor.title} rejected the key ({where}): {said}", hint=key_hint(vendor, key_name)
        )
    if _is_too_long(status, lowered):
        return _too_long(vendor, said)
    wait = retry_after(headers, text)
    if status == 402 or _is_exhausted(lowered, wait):
        return _exhausted(vendor, said)
    if _is_about_pictures(status, lowered):
        return _pictures(vendor, said, lowered)
    if status == 400 and _SUMMARIES.search(lowered):
        return SummariesRefused(f"{vendor.title} rejected the request: {said}")
    if status in _BUSY:
        word = "is busy" if status in (429, 503, 529) else "has trouble"
        return ModelBusy(f"{vendor.title} {word} ({status}): {said}", hint=_later(wait), wait=wait)
    if status == 404:
        return NoModel(f"{vendor.title} says: {said}", hint=_missing(vendor, said))
    return ModelError(f"{vendor.title} rejected the request: {said}")


def complain(vendor: ModelVendor, error: Any) -> ModelError:
    """The error for a message in the middle of an answer."""
    text = encode(error).decode()
    said = reason(text) or text[:_LONGEST]
    lowered = text.lower()
    if _TOO_LONG.search(lowered):
        return _too_long(vendor, said)
    wait = retry_after({}, text)
    if _is_exhausted(lowered, wait):
        return _exhausted(vendor, said)
    if _is_about_pictures(400, lowered):
        return _pictures(vendor, said, lowered)
    if _BUSY_WORDS.search(lowered):
        return ModelBusy(f"{vendor.title} is busy: {said}", hint=_later(wait), wait=wait)
    return ModelError(f"{vendor.title} failed: {said}")


def retry_after(headers: Mapping[str, str], text: str = "") -> float | None:
    """Seconds to wait, as the vendor asks; None if it does not."""
    for value, unit in ((headers.get("retry-after-ms", ""), 1000), (headers.get("retry-after", ""), 1)):
        seconds = _number(value)
        if seconds is not None:
            return max(0.0, seconds / unit)
    dated = _until(headers.get("retry-after", ""))
    if dated is not None:
        return dated
    told = _RETRY_DELAY.search(text)  # Gemini sends it in the body.
    return _number(told[1]) if told else None


def reason(text: str) -> str:
    """The vendor's message, from the few shapes that vendors use."""
    try:
        found: Any = decode(text)
    except ValueError:
        return " ".join(text.split())[:_LONGEST]
    if isinstance(found, list) and found:
        found = found[0]
    if isinstance(found, dict) and "error" in found:
        found = found["error"]
    if isinstance(found, dict):
        found = found.get("message") or found.get("detail") or found.get("type")
    return found[:_LONGEST] if isinstance(found, str) else ""


def _later(wait: float | None) -> str:
    return "Try again later." if wait is None else f"Try again in {math.ceil(wait)} s."


def _missing(vendor: ModelVendor, said: str) -> str:
    found = _MISSING_LOCALLY.search(said) if vendor.name == "ollama" else None
    if found is None:
        return "List models with: toolcrib models"
    return f"Install it with: ollama pull {found[1] or 'MODEL'}"


def _too_long(vendor: ModelVendor, said: str) -> ContextTooLong:
    return ContextTooLong(
        f"{vendor.title} reports that the chat is too long: {said}", hint="Start a new chat."
    )


def _exhausted(vendor: ModelVendor, said: str) -> ModelError:
    return ModelError(
        f"{vendor.title} reports that the account has no quota left: {said}",
        hint="Check the account's plan and billing, or choose another model.",
    )


def _pictures(vendor: ModelVendor, said: str, lowered: str) -> PicturesRefused:
    blind = bool(_NO_PICTURES.search(lowered))
    return PicturesRefused(f"{vendor.title} rejected the request: {said}", blind=blind)


def _is_too_long(status: int, lowered: str) -> bool:
    if status == 413:
        return True
    if status == 429:  # "Too many tokens" is a rate limit there, unless the single request exceeds it.
        return bool(_TOO_LARGE_TO_EVER_FIT.search(lowered))
    return status in (400, 404, 422, 500) and bool(_TOO_LONG.search(lowered))


def _is_exhausted(lowered: str, wait: float | None) -> bool:
    if _EXHAUSTED.search(lowered):
        return True
    return _PERHAPS_EXHAUSTED in lowered and (wait is None or bool(_PER_DAY.search(lowered)))


def _is_about_pictures(status: int, lowered: str) -> bool:
    if not _PICTURES.search(lowered):
        return False
    return status in (400, 404, 415, 422) or (status >= 500 and bool(_NO_PICTURES.search(lowered)))


def _number(value: str) -> float | None:
    try:
        found = float(value)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def _until(date: str) -> float | None:
    try:
        then = parsedate_to_datetime(date)
    except (ValueError, TypeError):
        return None
    then = then if then.tzinfo else then.replace(tzinfo=UTC)
    return max(0.0, (then - datetime.now(UTC)).total_seconds())

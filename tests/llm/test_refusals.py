"""Refusals are understood: a chat that is too long, a bad key, an empty account, when to ask again."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from toolcrib.errors import ContextTooLong, ModelBusy, ModelError, ModelKeyRefused, NoModel
from toolcrib.llm.context import ModelVendor
from toolcrib.llm.vendor_errors import PicturesRefused, complain, retry_after, translate

VENDOR = ModelVendor(name="any", title="Any", keys=("ANY_KEY",))
TOO_LONG: dict[str, tuple[int, Any]] = {
    "anthropic": (
        400,
        {
            "type": "error",
            "error": {
                "type": "invalid_request_error",
                "message": "prompt is too long: 21 tokens > 20 maximum",
            },
        },
    ),
    "anthropic with room for the answer": (
        400,
        {"error": {"message": "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"}},
    ),
    "anthropic by size": (413, {"error": {"type": "request_too_large", "message": "Request exceeds 32 MB"}}),
    "openai": (
        400,
        {"error": {"code": "context_length_exceeded", "message": "This model's maximum context"}},
    ),
    "openai responses": (400, {"error": {"message": "Your input exceeds the context window of this model."}}),
    "openai beyond its rate": (429, {"error": {"message": "Request too large for gpt-4o in organization x"}}),
    "llama.cpp": (
        400,
        {
            "error": {
                "code": 400,
                "message": "request (8244 tokens) exceeds the available context size (4096 tokens)",
                "type": "exceed_context_size_error",
            }
        },
    ),
    "llama.cpp, older": (500, {"error": {"message": "the request exceeds the available context size."}}),
    "xai": (
        400,
        {"error": "This model's maximum prompt length is 131072 but the request contains 537812 tokens."},
    ),
    "openrouter": (
        400,
        {"error": {"message": "This endpoint's maximum context length is 131072 tokens.", "code": 400}},
    ),
    "vllm": (
        400,
        {"message": "This model's maximum context length is 4096 tokens. However, you requested 5000"},
    ),
    "vllm, newer": (
        400,
        {
            "error": {
                "message": "The decoder prompt (length 9000) is longer than the maximum model length of 4096."
            }
        },
    ),
    "lm studio": (
        400,
        {
            "error": "The number of tokens to keep from the initial prompt is greater than it. "
            "Try to load the model with a larger context length, or provide a shorter input"
        },
    ),
    "lm studio, newer": (
        400,
        {"error": "Trying to keep the first 9 tokens when context the overflows. Context length"},
    ),
    "ollama": (400, {"error": "the input length exceeds the context length"}),
    "ollama cloud": (400, {"error": "prompt too long; exceeded max context length by 20 tokens"}),
    "gemini": (
        400,
        {
            "error": {
                "message": "The input token count (1200000) exceeds the maximum number of tokens allowed."
            }
        },
    ),
    "mistral": (
        400,
        {"message": "Prompt contains 40000 tokens, too large for model with 32768 maximum context length"},
    ),
    "groq": (400, {"error": {"message": "Please reduce the length of the messages or completion."}}),
    "tgi": (422, {"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096."}),
    "moonshot": (
        400,
        {"error": {"message": "Invalid request: Your request exceeded model token limit: 8192"}},
    ),
    "sglang": (
        400,
        {"message": "The input (5000 tokens) is longer than the model's context length (4096 tokens)."},
    ),
    "bedrock": (400, {"message": "Input is too long for requested model."}),
}


@pytest.mark.parametrize(("status", "body"), TOO_LONG.values(), ids=TOO_LONG.keys())
def test_a_chat_that_is_too_long_is_recognised(status: int, body: Any) -> None:
    assert type(translate(VENDOR, "", status, {}, json.dumps(body))) is ContextTooLong


@pytest.mark.parametrize("body", [one[1] for one in TOO_LONG.values() if one[0] == 400], ids=str)
def test_it_is_recognised_inside_a_stream_too(body: Any) -> None:
    assert type(complain(VENDOR, body.get("error") or body)) is ContextTooLong


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (429, "Too many tokens, please wait before trying again."),
        (
            429,
            "Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 5000",
        ),
        (503, "The model is overloaded"),
    ],
)
def test_a_rate_limit_is_no_chat_that_is_too_long(status: int, text: str) -> None:
    assert type(translate(VENDOR, "", status, {}, json.dumps({"error": {"message": text}}))) is ModelBusy


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (429, {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}),
        (429, {"error": {"message": "You exceeded your current quota, please check your plan and billing."}}),
        (400, {"error": {"message": "Your credit balance is too low to access the Anthropic API."}}),
        (402, {"error": {"message": "Insufficient Balance"}}),
        (403, {"error": {"message": "x"}}),
    ],
)
def test_an_empty_account_is_not_taken_for_a_busy_vendor(status: int, body: Any) -> None:
    error = translate(VENDOR, "", status, {}, json.dumps(body))

    assert not isinstance(error, ModelBusy)
    assert error.hint


def test_the_quota_of_a_minute_is_waited_for_and_that_of_a_day_is_not() -> None:
    def told(quota: str) -> str:
        details = [{"violations": [{"quotaId": quota}]}, {"@type": "RetryInfo", "retryDelay": "34.5s"}]
        return json.dumps({"error": {"message": "You exceeded your current quota.", "details": details}})

    minute = translate(VENDOR, "", 429, {}, told("GenerateRequestsPerMinutePerProject"))

    assert isinstance(minute, ModelBusy)
    assert minute.wait == 34.5
    assert not isinstance(translate(VENDOR, "", 429, {}, told("GenerateRequestsPerDayPerProject")), ModelBusy)


def test_a_bad_key_of_gemini_is_a_key_and_says_where_it_goes() -> None:
    body = {
        "error": {"code": 400, "message": "API key not valid. Please pass a valid API key.", "status": "X"}
    }

    error = translate(VENDOR, "ANY_KEY", 400, {}, json.dumps(body))

    assert isinstance(error, ModelKeyRefused)
    assert "ANY_KEY" in error.hint


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
def test_when_to_ask_again_is_read(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_a_date_is_understood_as_when_to_ask_again() -> None:
    past = format_datetime(datetime.now(UTC) - timedelta(hours=1), usegmt=True)
    later = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)

    assert retry_after({"retry-after": past}) == 0.0
    assert 3000 < (retry_after({"retry-after": later}) or 0) <= 3600


@pytest.mark.parametrize(
    ("status", "text", "blind"),
    [
        (400, "Could not process image", False),
        (404, "No endpoints found that support image input", True),
        (400, "Failed to deserialize: unknown variant `image_url`, expected `text`", True),
        (500, "image input is not supported - hint: you may need to provide the mmproj", True),
        (400, "Vision add-on is not loaded, but images were provided for processing", True),
        (400, "At most 0 image(s) may be provided in one request.", True),
    ],
)
def test_a_refused_picture_is_recognised(status: int, text: str, blind: bool) -> None:
    error = translate(VENDOR, "", status, {}, json.dumps({"error": {"message": text}}))

    assert isinstance(error, PicturesRefused)
    assert error.blind is blind


@pytest.mark.parametrize(
    "text", ["", "null", "[]", "[1]", '{"error": null}', "<html>", "[" * 100_000, '{"error": 5}']
)
@pytest.mark.parametrize("status", [400, 404, 429, 500, 599])
def test_whatever_stands_in_a_refusal_there_is_an_error_for_it(status: int, text: str) -> None:
    error = translate(VENDOR, "", status, {}, text)

    assert isinstance(error, ModelError)
    assert isinstance(error, NoModel) == (status == 404)
    assert error.message

"""Answers that are an error before there is anything to answer with."""

from __future__ import annotations

from typing import Any

from toolcrib.gateway.http.request import JSON, Header, HttpRequest
from toolcrib.serverkit.encoding import encode
from toolcrib.serverkit.protocol import Refusal, refuse

BUSY = -32000
"""The JSON-RPC code of a request that may be sent again later."""


def answer_refusal(
    request: HttpRequest, status: int, refusal: Refusal, request_id: Any = None, *headers: Header
) -> None:
    """A JSON-RPC error with a status of its own."""
    request.answer(status, encode(refuse(request_id, refusal)), JSON, headers)


def answer_busy(request: HttpRequest, status: int, text: str, after: int, request_id: Any = None) -> None:
    """Refused for now; says after how many seconds to try again."""
    refusal = Refusal(BUSY, text, {"retryAfterMs": after * 1000})
    answer_refusal(request, status, refusal, request_id, (b"retry-after", str(after).encode()))


def answer_unauthorised(request: HttpRequest) -> None:
    """The same whether the token is missing, wrong or another's."""
    request.say(401, "A bearer token is needed.", (b"www-authenticate", b'Bearer realm="toolcrib"'))

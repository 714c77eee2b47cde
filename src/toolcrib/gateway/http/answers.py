"""Answers that are no MCP message, or an error before there is anything to answer with."""

from __future__ import annotations

from typing import Any

from pydantic_core import to_json

from toolcrib.gateway.http.exchange import Send
from toolcrib.serverkit.protocol import Refusal, refuse

BUSY = -32000
"""The JSON-RPC code of a request that may be sent again later."""
Header = tuple[bytes, bytes]
CLOSE: Header = (b"connection", b"close")


async def send_plain(send: Send, status: int, text: str, *headers: Header) -> None:
    """A sentence for a person."""
    await _send(send, status, b"text/plain; charset=utf-8", text.encode(), headers)


async def send_json(send: Send, status: int, value: dict[str, Any]) -> None:
    """Something for a program that is no MCP client."""
    await _send(send, status, b"application/json", to_json(value), ())


async def send_refusal(
    send: Send, status: int, refusal: Refusal, request_id: Any = None, *headers: Header
) -> None:
    """A JSON-RPC error with a status of its own."""
    await _send(send, status, b"application/json", to_json(refuse(request_id, refusal)), headers)


async def send_busy(send: Send, status: int, text: str, after: int, request_id: Any = None) -> None:
    """Refused for now; says after how many seconds to try again."""
    refusal = Refusal(BUSY, text, {"retryAfterMs": after * 1000})
    await send_refusal(send, status, refusal, request_id, (b"retry-after", str(after).encode()))


async def send_unauthorised(send: Send) -> None:
    """The same whether the token is missing, wrong or another's."""
    header = (b"www-authenticate", b'Bearer realm="toolcrib"')
    await send_plain(send, 401, "A bearer token is needed.", header)


async def _send(send: Send, status: int, kind: bytes, body: bytes, headers: tuple[Header, ...]) -> None:
    own = [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": [*own, *headers]})
    await send({"type": "http.response.body", "body": body})

"""How the gateway speaks to a client: beside an answer, on its own account, and with questions of servers;
and how its messages are encoded."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Protocol

from pydantic_core import to_json

from toolcrib.serverkit.encoding import encode as encode_json
from toolcrib.serverkit.encoding import encode_message
from toolcrib.serverkit.protocol import Message


class Wire(Protocol):
    """The way back to the client while one of its requests is being answered."""

    def tell(self, message: Message) -> None:
        """Send a notification that belongs to the request, before its answer."""

    def break_off(self) -> None:
        """The server closed its stream and goes on working; where the client can come back, so may we."""

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Ask the client something (legacy era only) and wait for its result; raises `PeerError`."""


class Channel(Protocol):
    """The way to a client that is not answering a request: change notifications of the legacy era."""

    def push(self, message: Message) -> None:
        """Send a message when the client listens; it is lost when it does not."""


class Encoded(dict[str, Any]):
    """A result that many requests get, and which is encoded once for all of them. It must not be changed."""

    @cached_property
    def json(self) -> bytes:
        """The result as it stands in a message."""
        return encode_json(self)


def encode(message: Message) -> bytes:
    """A message as JSON."""
    result = message.get("result")
    if type(result) is Encoded:
        return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (to_json(message["id"]), result.json)
    try:
        return to_json(message, inf_nan_mode="null")  # nearly always: spares two calls
    except ValueError:
        return encode_message(message)

"""The ways in which the gateway sends messages to a client, how they are encoded, and the name and version
that it gives of itself."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Protocol

from pydantic_core import to_json

from toolcrib.errors import ConnectionLost, PeerError
from toolcrib.serverkit.encoding import HEAVY, SCALARS, SMALL, encode_heavy_message, encode_message, weight
from toolcrib.serverkit.encoding import encode as encode_json
from toolcrib.serverkit.protocol import INTERNAL_ERROR, SERVER_INFO, Message
from toolcrib.version import __version__

INFO = {"name": "toolcrib", "version": __version__}

_FEW = 8
_OWN_META = {SERVER_INFO: INFO}
_USUAL_KEYS = frozenset({"content", "structuredContent", "isError", "resultType", "_meta"})

AT_ONCE = 200
"""Items of a list encoded before other tasks get their turn."""


class Wire(Protocol):
    """Sends messages to the client while one of its requests is being answered."""

    def notify(self, message: Message) -> None:
        """Send a notification that belongs to the request, before the response."""

    def interrupt(self) -> None:
        """The server closed its stream and continues to work; do the same if the client can resume ours."""

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send the client a request (legacy era only) and wait for the result; raises `PeerError`."""


class Channel(Protocol):
    """Sends notifications of changes to a client, outside its requests."""

    def push(self, message: Message) -> None:
        """Send a message if the client listens; else it is dropped."""


class Encoded(dict[str, Any]):
    """A result of many requests, encoded once. It must not be changed."""

    @cached_property
    def json(self) -> bytes:
        return encode_json(self)

    @property
    def is_encoded(self) -> bool:
        return "json" in self.__dict__

    async def encode_list(self, key: str) -> None:
        """Encode a result that consists mostly of a list, in short steps."""
        items, parts = self[key], []
        for start in range(0, len(items), AT_ONCE):
            parts.append(encode_json(items[start : start + AT_ONCE])[1:-1])
            await asyncio.sleep(0)
        others = encode_json({name: value for name, value in self.items() if name != key})[1:-1]
        comma = b"," if others else b""
        self.__dict__["json"] = b"{%b%b%b:[%b]}" % (others, comma, to_json(key), b",".join(parts))


def encode(message: Message) -> bytes:
    result = message.get("result")
    try:
        if type(result) is Encoded:
            return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (to_json(message["id"]), result.json)
        return to_json(message, inf_nan_mode="null")  # the usual case saves two calls
    except ValueError:
        return encode_message(message)


async def encode_any(message: Message) -> bytes:
    """Like `encode`; a large message is encoded in a thread."""
    result = message.get("result")
    if type(result) is Encoded or (type(result) is dict and _is_light(result)) or weight(message) <= HEAVY:
        return encode(message)
    return await encode_heavy_message(message)


def _is_light(result: dict[str, Any]) -> bool:
    """Whether it is one short text and perhaps a few plain values, as most results are; saves weighing it."""
    content, structured = result.get("content"), result.get("structuredContent")
    if type(content) is not list or len(content) != 1 or not result.keys() <= _USUAL_KEYS:
        return False
    meta = result.get("_meta")
    if meta and meta != _OWN_META:
        return False
    total = 0
    for part in content if structured is None else (content[0], structured):
        if type(part) is not dict or len(part) > _FEW:
            return False
        for name, value in part.items():
            kind = type(value)
            if type(name) is not str or (kind is not str and kind is not int and kind not in SCALARS):
                return False
            total += len(name)
            if kind is str:
                total += len(value)
            elif kind is int:
                total += value.bit_length()
    return total <= SMALL


def completed(result: Mapping[str, Any]) -> dict[str, Any]:
    """A result as a modern client gets it: marked as complete, and with our name."""
    meta = {SERVER_INFO: INFO, **(result.get("_meta") or {})}
    return {"resultType": "complete", **result, "_meta": meta}


class PendingRequests:
    """Requests to a client of the legacy era that wait for their responses."""

    def __init__(self) -> None:
        self._count = itertools.count(1)
        self._waiting: dict[str, asyncio.Future[Message]] = {}

    async def send(
        self, notify: Callable[[Message], None], method: str, params: dict[str, Any]
    ) -> dict[str, Any]:
        """Send a request with `notify` and wait for the result; raises `PeerError` when the client
        refuses."""
        request_id = f"toolcrib-{next(self._count)}"
        response = self._waiting[request_id] = asyncio.get_running_loop().create_future()
        notify({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})
        try:
            return _result(await response)
        finally:
            del self._waiting[request_id]

    def receive(self, message: Message) -> None:
        """A response of the client; one with an unknown id is dropped."""
        request_id = message.get("id")
        response = self._waiting.get(request_id) if isinstance(request_id, str) else None
        if response is not None and not response.done():
            response.set_result(message)

    def fail_all(self) -> None:
        """The client is gone: every waiting request fails."""
        for response in self._waiting.values():
            if not response.done():
                response.set_exception(ConnectionLost("The client disconnected before it answered."))


def _result(response: Message) -> dict[str, Any]:
    error = response.get("error")
    if isinstance(error, dict):
        code = error.get("code")
        text = str(error.get("message") or "The client gave no reason.")
        raise PeerError(text, code=code if isinstance(code, int) else INTERNAL_ERROR)
    result = response.get("result")
    return result if isinstance(result, dict) else {}

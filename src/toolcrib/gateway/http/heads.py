"""Heads that a connection has brought before: a client sends the same one with most of its requests, byte for
byte, and what the parser made of it then holds again.

Only those are kept that say how long their body is and that the connection goes on: where such a request
ends, the next one begins, and the parser has not missed anything that would matter to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from toolcrib.gateway.http.request import HttpRequest

MOST = 8
"""Heads kept of one connection; they differ in the length of the body, if in anything."""
LONGEST = 2048
_END = b"\r\n\r\n"
_TELLING = frozenset({"connection", "expect", "transfer-encoding", "upgrade"})
"""Headers that change how a request is read, or what follows it."""


class Head(NamedTuple):
    """What was read."""

    method: str
    target: bytes
    path: str
    headers: Mapping[str, str]
    length: int
    """Bytes of the body."""


class Heads:
    """Those of one connection."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[bytes, Head] = {}

    def recall(self, data: bytes) -> tuple[Head, bytes] | None:
        """The head and the body of what is one whole request, if its head was seen before."""
        end = data.find(_END) + len(_END)
        head = self._known.get(data[:end])
        if head is None or len(data) - end != head.length:
            return None
        return head, data[end:]

    def learn(self, data: bytes, request: HttpRequest) -> None:
        """This was read of these bytes, which may be one whole request, or more or less than that."""
        end = data.find(_END) + len(_END)
        if not _is_plain(request) or end > LONGEST:
            return
        length = int(request.headers["content-length"])
        if len(data) - end != length:
            return
        if len(self._known) >= MOST:
            del self._known[next(iter(self._known))]
        self._known[data[:end]] = Head(request.method, request.target, request.path, request.headers, length)


def _is_plain(request: HttpRequest) -> bool:
    if not request.whole or request.contradictory or request.too_large or not request.keep_alive:
        return False
    return "content-length" in request.headers and _TELLING.isdisjoint(request.headers)

"""Heads that a connection has brought before: a client sends the same one with most of its requests, byte for
byte, and what the parser made of it then holds again.

Only those are kept that say how long their body is and that the connection goes on: where such a request
ends, the next one begins, and the parser has not missed anything that would matter to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from toolcrib.gateway.http.request import HttpRequest

if TYPE_CHECKING:
    from toolcrib.gateway.http.admitted import Standing

MOST = 8
"""Heads kept of one connection; they differ in the length of the body, if in anything."""
LONGEST = 2048
_END = b"\r\n\r\n"
_TELLING = frozenset({"connection", "expect", "transfer-encoding", "upgrade"})
"""Headers that change how a request is read, or what follows it."""


class Head:
    """What was read."""

    __slots__ = ("headers", "length", "method", "path", "standing", "target")

    def __init__(self, request: HttpRequest, length: int) -> None:
        self.method = request.method
        self.target = request.target
        self.path = request.path
        self.headers: Mapping[str, str] = request.headers
        self.length = length
        """Bytes of the body."""
        self.standing: Standing | None = None
        """What the application found out about it; it would find the same again."""


class Heads:
    """Those of one connection."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[bytes, Head] = {}

    def recall(self, data: bytes, most: int) -> tuple[Head, bytes] | None:
        """The head and the body, of at most so many bytes, of a whole request whose head came before."""
        end = data.find(_END) + len(_END)
        head = self._known.get(data[:end])
        if head is None or len(data) - end != head.length or head.length > most:
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
        request.head = self._known[data[:end]] = Head(request, length)


def _is_plain(request: HttpRequest) -> bool:
    if not request.whole or request.contradictory or request.too_large or not request.keep_alive:
        return False
    return "content-length" in request.headers and _TELLING.isdisjoint(request.headers)

"""Parses requests with llhttp, but accepts less than llhttp: a request that two servers could read in
different ways is refused. Also the maximum length of a request's headers.

A head is parsed as a whole. llhttp alone would also accept several spaces in the request line, a request line
without a version, other protocols than HTTP, lists of transfer codings, and a whole URL as the target with
another host than the Host header.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

import httptools

END_OF_HEAD = b"\r\n\r\n"
MAX_HEAD = 64 * 1024
"""Bytes of a head. A chunked body may have as many around its content, and once more as its content has."""
TOO_LONG = f"The head of a request may have at most {MAX_HEAD:,} bytes."
MAX_CACHED_HEAD = 2048
_REQUEST_LINE = re.compile(rb"[A-Z-]+ [\x21-\x7e]+ HTTP/1\.[01]\r\n")
_BEGINNING = re.compile(rb"[A-Z-]{1,32}(?: |\Z)")
_BARE_LINE_FEED = re.compile(rb"(?<!\r)\n")
_AUTHORITY = re.compile(rb"(?i:https?)://([^/?#]+)(?=[/?#]|\Z)")
_UNIQUE = frozenset(
    {"host", "origin", "authorization", "mcp-session-id", "content-length", "transfer-encoding"}
)
"""Headers that decide something: two of them could contradict each other."""
_UNCACHED = frozenset({"expect", "transfer-encoding", "upgrade"})
_MAX_NAMES = 500
_names: dict[bytes, str] = {}
"""Names of headers as clients write them, and in lower case; there are few."""


class BadRequest(Exception):
    """The bytes are no request, or one that could be read in two ways, or too much is around its body."""

    def __init__(self, status: int = 400, text: str = "Invalid HTTP request received.") -> None:
        super().__init__(text)
        self.status = status
        self.text = text


class Head:
    """A request line and its headers. Requests of one connection with the same head share it."""

    __slots__ = (
        "admission",
        "cacheable",
        "chunked",
        "expects_continue",
        "headers",
        "http10",
        "keep_alive",
        "length",
        "method",
        "path",
        "target",
    )

    def __init__(self, method: str, target: bytes, headers: Mapping[str, str]) -> None:
        self.method = method
        self.target = target
        self.path = _path(target)
        self.headers = headers
        """By name in lower case; of several with one name, the last."""
        self.length = int(headers.get("content-length", 0))
        """Bytes of the body, unless it is chunked."""
        self.chunked = "transfer-encoding" in headers
        self.expects_continue = headers.get("expect", "").lower() == "100-continue"
        self.http10 = False
        self.keep_alive = True
        self.cacheable = "content-length" in headers and _UNCACHED.isdisjoint(headers)
        self.admission: Any = None
        """What the application found out about it; it would find the same again."""


class RequestParser:
    """Reads one request: its head, and then its body if that is chunked."""

    def __init__(self) -> None:
        self._parser: Any = httptools.HttpRequestParser(self)
        self._url = b""
        self._headers: dict[str, str] = {}
        self._tail = b""
        """The last bytes of the chunked body so far; its end may be split between two reads."""
        self._overhead = 0
        self._parts: list[bytes] = []
        self._head: Head | None = None
        self.complete = False
        self.keep_alive = True
        """False when a trailer asks to close the connection, as llhttp understands it."""

    def read_head(self, data: bytes) -> Head:
        """Parse a whole head."""
        if not _REQUEST_LINE.match(data):
            raise BadRequest
        self._feed(data)
        if self._head is None:
            raise BadRequest
        return self._head

    def _make_head(self) -> Head:
        parser, headers = self._parser, self._headers
        method = parser.get_method().decode("ascii")
        if method == "CONNECT" or headers.get("transfer-encoding", "chunked").lower() != "chunked":
            raise BadRequest
        if not self._url.startswith(b"/") and not _is_at(self._url, headers.get("host", "")):
            raise BadRequest  # other servers go by the host in the URL, and we by the header
        head = Head(method, self._url, headers)
        keep_alive, upgrade = parser.should_keep_alive(), parser.should_upgrade()
        if not keep_alive or "connection" in headers:  # HTTP/1.0 has one or the other
            head.http10 = parser.get_http_version() == "1.0"
        if upgrade and (head.chunked or head.length):
            raise BadRequest  # llhttp takes the body for the other protocol, other servers for the request's
        head.keep_alive = keep_alive and not upgrade and not head.http10
        head.cacheable = head.cacheable and head.keep_alive
        return head

    def feed_chunks(self, data: bytes) -> tuple[list[bytes], bytes]:
        """Read more of a chunked body; returns its content, and what follows it once it is `complete`.

        A chunked body ends with an empty line. llhttp never gets more than that at once, because it would
        continue with the next request.
        """
        while data and not self.complete:
            end = (self._tail + data).find(END_OF_HEAD)
            cut = len(data) if end < 0 else end + len(END_OF_HEAD) - len(self._tail)
            part, data = data[:cut], data[cut:]
            self._tail = (self._tail + part)[-3:]
            self._overhead += len(part)
            self._feed(part)
            if self._overhead > MAX_HEAD:
                raise BadRequest(431, TOO_LONG)
        parts, self._parts = self._parts, []
        return parts, data

    def _feed(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            pass  # answered as plain HTTP, and the connection ends
        except httptools.HttpParserError:
            raise BadRequest from None

    # The callbacks of llhttp.

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._head is not None:
            return  # a trailer, which means nothing here
        known = _names.get(name) or _lower(name)
        if known in self._headers and known in _UNIQUE:
            raise BadRequest
        self._headers[known] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        self._head = self._make_head()

    def on_body(self, body: bytes) -> None:
        self._parts.append(body)
        self._overhead -= 2 * len(body)

    def on_message_complete(self) -> None:
        self.complete = True
        self.keep_alive = self._parser.should_keep_alive()


def may_begin_request(data: bytes | bytearray, seen: int = 0) -> bool:
    """False when no head that begins with these bytes would be accepted; so many of them were seen before."""
    return _BEGINNING.match(data) is not None and _BARE_LINE_FEED.search(data, seen) is None


def _lower(name: bytes) -> str:
    known = name.decode("latin-1").lower()
    if len(_names) < _MAX_NAMES and len(name) <= 100:
        _names[name] = known
    return known


def _is_at(url: bytes, host: str) -> bool:
    """Whether a whole URL as the target has the host and port of the Host header."""
    found = _AUTHORITY.match(url)
    return found is not None and found[1].decode("ascii").lower() == host.lower()


def _path(target: bytes) -> str:
    """The path of a request's target, which may be a whole URL."""
    path = target if target.startswith(b"/") else httptools.parse_url(target).path or b""
    text: str = path.partition(b"?")[0].decode("ascii")
    return unquote(text) if "%" in text else text


EMPTY = Head("", b"/", {})
"""Of a request whose head was not read."""

"""Random bytes for an HTTP server: requests that are valid or close to it, and what attackers send."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import TypeVar

Choice = TypeVar("Choice")

METHODS = (b"GET", b"POST", b"PUT", b"DELETE", b"HEAD", b"OPTIONS", b"PATCH")
ODD_METHODS = (b"get", b"M-SEARCH", b"FOO", b"PRI", b"CONNECT", b"", b"GE T", b"POST\x00", b"SOURCE")
TARGETS = (b"/mcp", b"/mcp/work?x=1", b"/", b"http://127.0.0.1/mcp", b"/a%20b", b"/#x")
ODD_TARGETS = (
    b"*",
    b"/%zz",
    b"/\xff",
    b"/x?\xe9",
    b"//evil",
    b"/a b",
    b"",
    b"/\x7f",
    b"/\x01",
    b"/a\tb",
    b"x:1",
)
VERSIONS = (b"HTTP/1.1",) * 8 + (b"HTTP/1.0",)
ODD_VERSIONS = (
    b"HTTP/1.2",
    b"HTTP/2.0",
    b"HTTP/0.9",
    b"http/1.1",
    b"HTTP/01.1",
    b"HTTP/1.1 ",
    b"RTSP/1.0",
    b"ICE/1.0",
)
ENDS = (b"\n", b"\r", b"\r\r\n", b"\n\r\n", b"\r\n ", b"\r\n\t")
LENGTHS = (
    b"+%d",
    b"0%d",
    b"-%d",
    b"%d ",
    b"\t%d",
    b"%d,%d",
    b"%d, %d",
    b"%x",
    b"0x%x",
    b"%d.0",
    b"1%d",
    b"%d\x0b",
)
CODINGS = (
    b"Chunked", b"chunked ", b"\tchunked", b"\x0bchunked", b"chunked\x0b", b"chunked, chunked", b"identity",
    b"identity, chunked", b"gzip, chunked", b"chunked, identity", b"xchunked", b"chunked;q=1", b'"chunked"',
    b"chunk", b"", b"chunked,", b",chunked", b"\x00chunked", b"chun\r\n ked",
)  # fmt: skip
HEADERS = (
    b"Accept: application/json", b"X: 1", b"x:1", b"X:  padded \t", b"Empty:", b"Connection: keep-alive",
    b"Expect: 100-continue", b"X-Binary: \xe9\xff", b"Mcp-Session-Id: a", b"Authorization: Bearer x",
)  # fmt: skip
ODD_HEADERS = (
    b"Connection: close", b"Connection: upgrade\r\nUpgrade: h2c", b"Upgrade: websocket",
    b"Host: evil.example", b"Space : 1", b"Tab\t: 1", b" Folded: 1", b"\tfolded", b"No colon", b": no name",
    b"Nul: a\x00b", b"Cr: a\rb", b"Lf: a\nb", b"N\xe4me: 1", b"Na(me: 1", b"X: a\x7fb",
    b"Content_Length: 3", b"Connection: close, keep-alive", b"Expect: something", b"Mcp-Session-Id: b",
    b"Proxy-Connection: close", b"Connection: Transfer-Encoding", b"Content-Length : 3",
    b"Transfer-Encoding : chunked", b"Transfer-Encoding\x0b: chunked", b"X:\x0b1", b"X: 1\x0c",
)  # fmt: skip
SIZES = (
    b"0%x",
    b"%X",
    b"%x ",
    b" %x",
    b"%x\t",
    b"0x%x",
    b"+%x",
    b"-%x",
    b"%x;a=b",
    b'%x;a="b"',
    b"%x ;a",
    b"%x;a\x00b",
)
SIZES += (
    b"%x;",
    b"1%x",
    b"%x\x0b",
    b'%x;a="\r\n',
    b"%x;a\nb",
    b"fffffffffffffffff%x",
    b"%x;a;b=c;d=\xe9",
    b"",
)
SMUGGLED = b"GET /smuggled HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
BYTES = b"\r\n\t :;,0\x00\xff/H"


class RandomRequests:
    """Streams of requests; `oddness` is the share of parts that are not as they should be."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._oddness = 0.0

    def stream(self) -> list[bytes]:
        """What one client sends: a few requests, each one piece."""
        random = self._random
        self._oddness = random.choice((0.0, 0.02, 0.05, 0.2))
        requests = [self.request() for _ in range(random.choice((1, 1, 2, 3)))]
        if random.random() < 0.3:
            requests = [requests[0]] * random.randint(2, 4) + requests[1:]
        if random.random() < 0.2:
            place = random.randrange(len(requests))
            requests[place] = self._damaged(requests[place])
        return requests

    def request(self) -> bytes:
        """One request, with a body or without."""
        line = [
            self._pick(METHODS, ODD_METHODS),
            self._pick(TARGETS, ODD_TARGETS),
            self._pick(VERSIONS, ODD_VERSIONS),
        ]
        space = self._pick((b" ",), (b"  ", b"\t", b""))
        headers = [b"Host: 127.0.0.1"] if not self._odd() else []
        headers += [self._pick(HEADERS, ODD_HEADERS) for _ in range(self._random.randrange(4))]
        framing, body = self._body()
        headers += framing
        self._random.shuffle(headers)
        before = self._pick((b"",), (b"\r\n", b"\n", b" "))
        lines = [before + space.join(line), *headers]
        return b"".join(one + self._end() for one in lines) + self._end() + body

    def pieces(self, requests: Sequence[bytes]) -> list[bytes]:
        """The stream as a socket may bring it."""
        data, random = b"".join(requests), self._random
        way = random.randrange(4)
        if way == 0:
            return list(requests)
        if way == 1:
            return [data[place : place + 1] for place in range(len(data))]
        cuts = sorted(random.randrange(len(data) + 1) for _ in range(random.randint(1, 6)))
        return [
            data[start:stop]
            for start, stop in zip([0, *cuts], [*cuts, len(data)], strict=True)
            if start < stop
        ]

    def _odd(self) -> bool:
        return self._random.random() < self._oddness

    def _pick(self, usual: Sequence[Choice], odd: Sequence[Choice]) -> Choice:
        return self._random.choice(odd if self._odd() else usual)

    def _end(self) -> bytes:
        return self._pick((b"\r\n",), ENDS)

    def _content(self) -> bytes:
        random = self._random
        return random.choice((b"", b"{}", SMUGGLED, b"0\r\n\r\n", random.randbytes(random.randrange(40))))

    def _body(self) -> tuple[list[bytes], bytes]:
        """The headers that say where the body ends, and the body."""
        content, way = self._content(), self._random.random()
        if way < 0.2:
            return [], b"" if not self._odd() else content
        lengths = [b"Content-Length: " + self._length(content) for _ in range(2 if self._odd() else 1)]
        if way < 0.6:
            return lengths, content
        codings = [b"Transfer-Encoding: " + self._coding() for _ in range(2 if self._odd() else 1)]
        return codings + (lengths if self._odd() else []), b"".join(self._chunks(content))

    def _length(self, content: bytes) -> bytes:
        length = max(0, len(content) + (self._random.choice((-1, 1, 10**25)) if self._odd() else 0))
        form = self._pick((b"%d",), LENGTHS)
        return form % ((length,) * form.count(b"%"))

    def _coding(self) -> bytes:
        return self._pick((b"chunked",), CODINGS)

    def _chunks(self, content: bytes) -> Iterator[bytes]:
        while content:
            size = self._random.randint(1, len(content))
            part, content = content[:size], content[size:]
            yield self._size(size) + self._end() + part + self._end()
        yield self._size(0) + self._end()
        for _ in range(self._random.choice((0, 0, 0, 1, 2))):
            yield (
                self._pick((*HEADERS, b"Content-Length: 5", b"Host: evil.example"), ODD_HEADERS) + self._end()
            )
        yield self._end()

    def _size(self, size: int) -> bytes:
        form = self._pick((b"%x",), SIZES)
        return form % size if form else b""

    def _damaged(self, request: bytes) -> bytes:
        """One byte more, less or another."""
        place, byte = self._random.randrange(len(request)), bytes([self._random.choice(BYTES)])
        return (
            request[:place] + self._random.choice((b"", byte)) + request[place + self._random.randrange(2) :]
        )

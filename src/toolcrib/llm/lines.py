"""Cuts a stream of bytes into lines at `\\n`, `\\r\\n` and `\\r` only, as event streams and JSON lines do.

`str.splitlines` and the line readers of HTTP clients also cut at U+2028, U+2029, U+0085 and a few control
characters, which may stand unescaped inside a JSON string.
"""

from __future__ import annotations

LONGEST_LINE = 64 * 1024 * 1024
"""Bytes; a server that sends more without the end of a line is out of control."""
_BOM = b"\xef\xbb\xbf"


class LineTooLong(ValueError):
    """A line has more bytes than anybody is willing to hold."""


class LineReader:
    """Turns chunks of bytes into lines of text."""

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        self._longest = longest
        self._begun: list[bytes] = []
        self._held = 0
        self._after_return = False
        self._at_start = True

    def feed(self, chunk: bytes) -> list[str]:
        """The lines that this chunk completes; raises `LineTooLong`."""
        if self._after_return and chunk.startswith(b"\n"):  # A CRLF that was cut in the middle.
            chunk = chunk[1:]
            self._after_return = False
        if not chunk:
            return []
        self._after_return = chunk.endswith(b"\r")
        lines = chunk.splitlines()  # Of bytes, which knows these three line ends alone.
        rest = b"" if chunk.endswith((b"\r", b"\n")) else lines.pop()
        complete = [self._join(line) for line in lines]
        self._hold(rest)
        return complete

    def rest(self) -> str:
        """What came after the last line end."""
        return self._join(b"") if self._begun else ""

    def _hold(self, piece: bytes) -> None:
        if not piece:
            return
        self._begun.append(piece)
        self._held += len(piece)
        if self._held > self._longest:
            raise LineTooLong(f"a line is longer than {self._longest:,} bytes")

    def _join(self, end: bytes) -> str:
        line = b"".join([*self._begun, end])
        self._begun, self._held = [], 0
        if self._at_start:
            line = line.removeprefix(_BOM)
        self._at_start = False
        return line.decode("utf-8", "replace")

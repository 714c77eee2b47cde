"""Cuts a byte stream into lines: linear in the size of a line, and bounded."""

from __future__ import annotations

from collections.abc import Callable


class LineTooLong(Exception):
    """A line exceeded the limit; the stream cannot be trusted from here on."""


class LineCutter:
    """Feed it chunks; it calls back with each whole line, without its newline."""

    __slots__ = ("_limit", "_on_line", "_partial")

    def __init__(self, on_line: Callable[[bytes | bytearray], None], limit: int) -> None:
        self._on_line = on_line
        self._limit = limit
        self._partial = bytearray()

    def feed(self, data: bytes) -> None:
        """Take the next chunk; raises `LineTooLong`."""
        end = data.find(b"\n")
        if 0 < end == len(data) - 1 <= self._limit and not self._partial:
            self._on_line(data[:end])  # one line and nothing else: most answers
            return
        start = 0
        if self._partial:
            if end < 0:
                self._grow(data)
                return
            self._grow(data[:end])
            line, self._partial = self._partial, bytearray()
            self._on_line(line)
            start = end + 1
        while (end := data.find(b"\n", start)) >= 0:
            if end - start > self._limit:
                raise LineTooLong
            if end > start:
                self._on_line(data[start:end])
            start = end + 1
        if start < len(data):
            self._grow(data[start:] if start else data)

    def _grow(self, data: bytes) -> None:
        if len(self._partial) + len(data) > self._limit:
            self._partial = bytearray()
            raise LineTooLong
        self._partial += data

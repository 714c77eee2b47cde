"""Reads the end of a log file, and what is added to it later, across rotations."""

from __future__ import annotations

import os
from pathlib import Path

READ_BYTES = 256 * 1024
"""Of the end of a file, for its last lines; and at most so much at once of what is new."""
LINE_BYTES = 160
"""Of a usual line: who asks for many lines gets more of the file read."""
MOST_BYTES = 32 * 1024 * 1024


class Tail:
    """The end of one file. It need not be there yet; one that is replaced is read on from its start."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._position = 0
        self._file_number: int | None = None
        self._partial = b""

    def last(self, count: int) -> list[str]:
        """The last complete lines, oldest first; `more` goes on from there."""
        try:
            with self._path.open("rb") as file:
                self._file_number = os.fstat(file.fileno()).st_ino
                size = file.seek(0, os.SEEK_END)
                wanted = min(MOST_BYTES, max(READ_BYTES, count * LINE_BYTES))
                start = file.seek(max(0, size - wanted))
                data = file.read(size - start)
        except OSError:
            return []
        self._position = start + len(data)
        *lines, self._partial = data.split(b"\n")
        if start > 0:
            lines = lines[1:]  # Most likely only the end of a line.
        return [_text(line) for line in lines[-count:]] if count > 0 else []

    def more(self) -> list[str]:
        """The lines that were completed since."""
        try:
            with self._path.open("rb") as file:
                found = os.fstat(file.fileno())
                if found.st_ino != self._file_number or found.st_size < self._position:
                    self._file_number, self._position, self._partial = found.st_ino, 0, b""
                file.seek(self._position)
                data = file.read(READ_BYTES)
        except OSError:
            return []
        self._position += len(data)
        *lines, self._partial = (self._partial + data).split(b"\n")
        return [_text(line) for line in lines]


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace").rstrip("\r")

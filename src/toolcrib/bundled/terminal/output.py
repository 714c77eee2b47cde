"""The output of a command: its beginning and end are kept, the middle is counted; or its screen."""

from __future__ import annotations

import codecs
import re
from typing import Any

KEPT_HEAD = 16 * 1024
KEPT_TAIL = 48 * 1024
_ESCAPES = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"
    r"|\x1b[PX^_][^\x1b]*(?:\x1b\\)?|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


class Output:
    """Takes bytes, gives text."""

    def __init__(self, head: int = KEPT_HEAD, tail: int = KEPT_TAIL) -> None:
        self.total = 0
        self._head = bytearray()
        self._tail = bytearray()
        self._most_head = head
        self._most_tail = tail

    def take(self, data: bytes) -> None:
        """Keep what there is room for."""
        self.total += len(data)
        room = self._most_head - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        if len(self._tail) > 2 * self._most_tail:
            del self._tail[: -self._most_tail]

    @property
    def dropped(self) -> int:
        """Bytes that are not kept."""
        return max(0, self.total - len(self._head) - min(len(self._tail), self._most_tail))

    def text(self) -> str:
        """All that is kept, with a note where something is missing."""
        tail = bytes(self._tail[-self._most_tail :])
        if not self.dropped:
            return plain(bytes(self._head) + tail)
        return f"{plain(bytes(self._head))}\n[… {self.dropped} bytes left out …]\n{plain(tail)}"


def plain(data: bytes) -> str:
    """Text without the terminal's escape sequences; a line that was written over shows its last state."""
    text = codecs.decode(data, "utf-8", "replace")
    text = _ESCAPES.sub("", text).replace("\r\n", "\n")
    text = "\n".join(
        line.rpartition("\r")[2] if not line.endswith("\r") else line[:-1] for line in text.split("\n")
    )
    return _CONTROL.sub("", text)


COLUMNS, LINES = 120, 40
_HISTORY = 500


class Screen:
    """A virtual terminal for full-screen programs."""

    def __init__(self, columns: int = COLUMNS, lines: int = LINES) -> None:
        import pyte

        self._screen: Any = pyte.HistoryScreen(columns, lines, history=_HISTORY, ratio=0.5)
        self._stream: Any = pyte.Stream(self._screen)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def take(self, data: bytes) -> None:
        """Draw."""
        self._stream.feed(self._decoder.decode(data))

    def text(self) -> str:
        """What is on the screen, with the lines above it; blank ends are left out."""
        above = [
            "".join(line[x].data for x in range(self._screen.columns)) for line in self._screen.history.top
        ]
        lines = [line.rstrip() for line in (*above, *self._screen.display)]
        while lines and not lines[-1]:
            lines.pop()
        return "\n".join(lines)

    @property
    def cursor(self) -> tuple[int, int]:
        """Line and column, from 1."""
        return self._screen.cursor.y + 1, self._screen.cursor.x + 1

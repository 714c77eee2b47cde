"""What a full-screen program shows: its lines as they stand, and what scrolled away above them."""

from __future__ import annotations

import codecs
from typing import Any

COLUMNS, LINES = 120, 40
_HISTORY = 500


class Screen:
    """A terminal that nobody looks at."""

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

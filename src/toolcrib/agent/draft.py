"""Keeps the answer that is being written, a few times a second, so that a killed process loses little of it.

A short answer is never written here: it is complete before the first write is due.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable

from toolcrib.agent.chat import Partial

PAUSE = 0.25
"""Seconds between two writes."""


class Draft:
    """The answer of one round at a time; `write` keeps what there is of it."""

    def __init__(self, write: Callable[[Partial], None]) -> None:
        self._write = write
        self._timer: asyncio.TimerHandle | None = None
        self._begin()

    def _begin(self) -> None:
        self._mark = secrets.token_hex(6)
        self._written = False
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._before: Partial | None = None

    def add(self, *, text: str = "", thinking: str = "") -> None:
        """The model has written more."""
        self._text.append(text)
        self._thinking.append(thinking)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(PAUSE, self._due)

    def restart(self) -> None:
        """The model is asked once more and begins from nothing; if that fails, the longer one is kept."""
        self._before = self._longest()
        self._text, self._thinking = [], []

    def take_place(self) -> str:
        """The mark of the stored draft, whose place the next entry takes; empty when nothing is stored."""
        written, self._written = self._written, False
        return self._mark if written else ""

    def end(self) -> Partial | None:
        """What was written of an answer that ended early, if anything; then the next round begins."""
        found = self._longest()
        self.close()
        return found

    def close(self) -> None:
        """The round is over."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._begin()

    def _due(self) -> None:
        self._timer = None
        now = self._now()
        if not _is_empty(now):
            self._written = True
            self._write(now)

    def _longest(self) -> Partial | None:
        now = self._now()
        longest = max((one for one in (now, self._before) if one is not None), key=lambda one: len(one.text))
        return None if _is_empty(longest) else longest

    def _now(self) -> Partial:
        return Partial(mark=self._mark, text="".join(self._text), thinking="".join(self._thinking))


def _is_empty(partial: Partial) -> bool:
    return not (partial.text.strip() or partial.thinking.strip())

"""Reads what a person types, with a history, while the program goes on; without one, lines of a pipe."""

from __future__ import annotations

import asyncio
import sys
import termios
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, Self

MOST_REMEMBERED = 1000
PROMPT = "› "
END = "\x04"
"""Ctrl-D."""


class Prompt:
    """Used as `with Prompt(history) as prompt`."""

    def __init__(self, history: Path, *, interactive: bool) -> None:
        self._history = history
        self._interactive = interactive
        self._before: list[Any] | None = None
        self._ahead = ""

    def __enter__(self) -> Self:
        if self._interactive:
            self._before = termios.tcgetattr(sys.stdin)
            _load(self._history)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            # Whoever leaves in the middle of a line leaves the terminal as readline has it.
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self._before)
            _save(self._history)

    def push(self, text: str) -> None:
        """Text that was typed before it was asked for: the next lines begin with it."""
        self._ahead += text.replace("\r", "\n")

    async def read(self) -> str | None:
        """The next line; None at the end."""
        line, ended, rest = self._ahead.partition("\n")
        if line.startswith(END):
            return None
        if ended:
            self._ahead = rest
            return line
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[str | None] = loop.create_future()

        def deliver(line: str | None) -> None:
            if not answer.done():
                answer.set_result(line)

        def read() -> None:
            line = self._line()
            # The loop may have gone while somebody thought.
            if not loop.is_closed():
                loop.call_soon_threadsafe(deliver, line)

        # A thread of its own that nobody waits for: one that waits for a person cannot be ended.
        threading.Thread(target=read, name="prompt", daemon=True).start()
        return await answer

    def _line(self) -> str | None:
        try:
            if self._interactive:
                ahead, self._ahead = self._ahead, ""
                return _ask(ahead)
            line = sys.stdin.readline()
        except (EOFError, OSError):
            return None
        return line.rstrip("\n") if line else None


def _ask(ahead: str) -> str:
    """A line that begins with what was typed already."""
    try:
        import readline
    except ImportError:
        return ahead + input(PROMPT)
    readline.set_startup_hook(lambda: readline.insert_text(ahead))
    try:
        return input(PROMPT)
    finally:
        readline.set_startup_hook()


def _load(history: Path) -> None:
    try:
        import readline

        readline.set_history_length(MOST_REMEMBERED)
        readline.read_history_file(history)
    except (ImportError, OSError):
        pass


def _save(history: Path) -> None:
    try:
        import readline

        history.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        history.touch(mode=0o600)
        readline.write_history_file(history)
    except (ImportError, OSError):
        pass

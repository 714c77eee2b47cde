"""Reads lines while the event loop runs: from a terminal with history, or from a pipe."""

from __future__ import annotations

import asyncio
import sys
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

MAX_HISTORY = 1000
PROMPT = "› "
END = "\x04"
"""Ctrl-D."""
INTERRUPT = "\x03"
"""Ctrl-C."""
_ON_INTERRUPT = (
    r'"\e[990~": end-of-line',
    r'"\e[991~": quoted-insert',
    r'"\e[992~": accept-line',
    r'"\C-c": "\e[990~\e[991~\C-c\e[992~"',
)
"""Ctrl-C ends the line with itself, as in shells; the sequences for the commands are sent by no key."""


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
            # Leaving in the middle of a line leaves the terminal in readline's mode.
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self._before)
            _save(self._history)

    def push(self, text: str) -> None:
        """Add text that was typed early: the next lines begin with it."""
        self._ahead += text.replace("\r", "\n")

    async def read(self) -> str | None:
        """The next line; None at the end. Ctrl-C discards a line with text, and ends at an empty one."""
        while (line := await self._read()) is not None and line.endswith(INTERRUPT):
            if line == INTERRUPT:
                return None
        return line

    async def _read(self) -> str | None:
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
            # The loop may have been closed meanwhile.
            if not loop.is_closed():
                loop.call_soon_threadsafe(deliver, line)

        # A daemon thread: reading from a terminal cannot be cancelled.
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
    """Read a line that begins with what was typed early."""
    try:
        import readline
    except ImportError:
        return ahead + input(PROMPT)
    readline.set_startup_hook(lambda: readline.insert_text(ahead))
    try:
        with _interrupt_as_key():
            line = input(PROMPT)
    finally:
        readline.set_startup_hook()
    if line.endswith(INTERRUPT):
        readline.remove_history_item(readline.get_current_history_length() - 1)
    return line


@contextmanager
def _interrupt_as_key() -> Iterator[None]:
    """Pass Ctrl-C to readline as a key: a signal could end the program, but not clear the line.

    libedit, the other implementation of readline, lacks these commands; there Ctrl-C ends the program.
    """
    import readline

    if "libedit" in (readline.__doc__ or ""):
        yield
        return
    for binding in _ON_INTERRUPT:
        readline.parse_and_bind(binding)
    before = termios.tcgetattr(sys.stdin)
    changed = termios.tcgetattr(sys.stdin)
    changed[6][termios.VINTR] = b"\0"
    termios.tcsetattr(sys.stdin, termios.TCSADRAIN, changed)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _load(history: Path) -> None:
    try:
        import readline

        readline.set_history_length(MAX_HISTORY)
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

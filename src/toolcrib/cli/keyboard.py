"""Reads single keys while the event loop runs; the terminal is always restored.

Only a key pressed while a question waits for it is an answer. Keys typed earlier, pastes and key repeats are
kept for the next prompt.
"""

from __future__ import annotations

import asyncio
import codecs
import os
import re
import sys
import termios
import tty
from collections.abc import Callable
from types import TracebackType
from typing import Self

ESCAPE = "\x1b"
ENTER = ("\r", "\n")
QUIET = 0.5
"""Seconds without a key before a question accepts answers."""
PASTED = "  That was more than one key; press a single key."
_ERASE = ("\x7f", "\b")
_REST_OF_SEQUENCE = 0.05
"""Seconds within which the rest of an escape sequence, such as an arrow key, follows."""
_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O[@-~]|[^\[O\x1b])")
_BEGUN = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|O)?\Z")


class Keyboard:
    """Used as `with Keyboard(on_escape) as keys`, on a terminal, inside an event loop."""

    def __init__(self, on_escape: Callable[[], object] = lambda: None) -> None:
        self._on_escape = on_escape
        self._file = sys.stdin.fileno()
        self._before = termios.tcgetattr(self._file)
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._pressed: asyncio.Queue[str] = asyncio.Queue()
        """What was read at once; a single key is a piece of one character."""
        self._wanted = False
        self._begun = ""
        self._timer: asyncio.TimerHandle | None = None
        self._typed_at = 0.0
        self.ahead = ""
        """What was typed without a question: for the next prompt."""

    def __enter__(self) -> Self:
        tty.setcbreak(self._file)
        asyncio.get_running_loop().add_reader(self._file, self._read)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.get_running_loop().remove_reader(self._file)
        if self._timer is not None:
            self._timer.cancel()
        termios.tcsetattr(self._file, termios.TCSADRAIN, self._before)

    async def settle(self) -> None:
        """Wait for a pause in typing; call it between a question and its choices."""
        loop = asyncio.get_running_loop()
        self._typed_at = loop.time()
        while (left := self._typed_at + QUIET - loop.time()) > 0:  # noqa: ASYNC110 - every key extends it
            await asyncio.sleep(left)

    async def key(self) -> str:
        """The next key; several characters at once are a paste, not a key."""
        self._wanted = True
        try:
            while len(pressed := await self._pressed.get()) != 1:
                _show(f"{PASTED}\n")
            return pressed
        finally:
            self._stop_listening()

    async def line(self, prompt: str) -> str | None:
        """A line, shown as it is typed; None after Escape. A paste does not end it."""
        _show(prompt)
        self._wanted = True
        try:
            return await self._typed_line()
        finally:
            self._stop_listening()
            _show("\n")

    def stop(self) -> None:
        """Do what Escape does without a question."""
        self._on_escape()

    async def _typed_line(self) -> str | None:
        typed = ""
        while (piece := await self._pressed.get()) not in ENTER:
            if piece == ESCAPE:
                return None
            if piece in _ERASE:
                _show("\b \b" if typed else "")
                typed = typed[:-1]
                continue
            shown = "".join(letter if letter.isprintable() else " " for letter in piece)
            if len(piece) > 1 or piece.isprintable():
                _show(shown)
                typed += shown
        return typed.strip()

    def _stop_listening(self) -> None:
        self._wanted = False
        while not self._pressed.empty():
            self._keep(self._pressed.get_nowait())

    def _read(self) -> None:
        try:
            data = os.read(self._file, 1024)
        except OSError:
            data = b""
        if not data:  # The terminal was closed.
            asyncio.get_running_loop().remove_reader(self._file)
            return
        text = _SEQUENCE.sub("", self._begun + self._decode(data))
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        begun = _BEGUN.search(text)
        self._begun = begun.group() if begun is not None else ""
        if begun is not None:
            text = text[: begun.start()]
            self._timer = asyncio.get_running_loop().call_later(_REST_OF_SEQUENCE, self._alone)
        if text:
            self._take(text)

    def _alone(self) -> None:
        """No sequence followed: Escape itself was pressed."""
        self._timer = None
        begun, self._begun = self._begun, ""
        if begun == ESCAPE:
            self._take(ESCAPE)

    def _take(self, piece: str) -> None:
        self._typed_at = asyncio.get_running_loop().time()
        if self._wanted:
            self._pressed.put_nowait(piece)
        else:
            self._keep(piece)

    def _keep(self, piece: str) -> None:
        if piece == ESCAPE:
            self._on_escape()
        else:
            self.ahead += piece


def _show(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()

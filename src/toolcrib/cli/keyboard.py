"""Keys as they are pressed, while the program goes on; the terminal is restored whatever happens.

Only a key that is pressed while a question waits for it is an answer. What was typed before, what is pasted,
and what a held key repeats is kept for the next prompt.
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
"""Seconds without a key before a question takes answers."""
PASTED = "  Several characters at once are no answer; press one key."
_ERASE = ("\x7f", "\b")
_REST_OF_SEQUENCE = 0.05
"""Seconds in which the rest of an arrow key's sequence follows its Escape."""
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
        """What was read at once, in pieces: a key that is pressed is a piece of one character."""
        self._wanted = False
        self._begun = ""
        self._timer: asyncio.TimerHandle | None = None
        self._typed_at = 0.0
        self.ahead = ""
        """What was typed while nobody asked for it: meant for the next prompt."""

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
        """Wait until nothing was typed for a moment; call it between a question and its choices."""
        loop = asyncio.get_running_loop()
        self._typed_at = loop.time()
        while (left := self._typed_at + QUIET - loop.time()) > 0:  # noqa: ASYNC110 - every key prolongs it
            await asyncio.sleep(left)

    async def key(self) -> str:
        """The next key that is pressed; several characters at once are a paste and no key."""
        self._wanted = True
        try:
            while len(pressed := await self._pressed.get()) != 1:
                _show(f"{PASTED}\n")
            return pressed
        finally:
            self._stop_listening()

    async def line(self, prompt: str) -> str | None:
        """A line, shown as it is typed; None when Escape gives it up. A paste does not end it."""
        _show(prompt)
        self._wanted = True
        try:
            return await self._typed_line()
        finally:
            self._stop_listening()
            _show("\n")

    def stop(self) -> None:
        """Do what Escape does while nothing is asked."""
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
            shown = "".join(one if one.isprintable() else " " for one in piece)
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
        if not data:  # The terminal is gone.
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
        """Nothing followed: Escape itself was pressed."""
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

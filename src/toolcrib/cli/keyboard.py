"""Keys as they are pressed, while the program goes on; the terminal is put right whatever happens."""

from __future__ import annotations

import asyncio
import codecs
import os
import sys
import termios
import tty
from collections.abc import Callable
from types import TracebackType
from typing import Self

ESCAPE = "\x1b"
_ENTER = ("\r", "\n")
_ERASE = ("\x7f", "\b")


class Keyboard:
    """Used as `with Keyboard(on_escape) as keys`, on a terminal, inside an event loop."""

    def __init__(self, on_escape: Callable[[], object] = lambda: None) -> None:
        self._on_escape = on_escape
        self._file = sys.stdin.fileno()
        self._before = termios.tcgetattr(self._file)
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._pressed: asyncio.Queue[str] = asyncio.Queue()
        self._wanted = False
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
        termios.tcsetattr(self._file, termios.TCSADRAIN, self._before)

    async def key(self) -> str:
        """The next key, as it comes."""
        self._wanted = True
        try:
            return await self._pressed.get()
        finally:
            self._wanted = False

    async def line(self, prompt: str) -> str:
        """A line, shown as it is typed; Escape gives it up."""
        _show(prompt)
        typed = ""
        while (key := await self.key()) not in _ENTER:
            if key == ESCAPE:
                typed = ""
                break
            if key in _ERASE:
                _show("\b \b" if typed else "")
                typed = typed[:-1]
            elif key.isprintable():
                _show(key)
                typed += key
        _show("\n")
        return typed.strip()

    def _read(self) -> None:
        text = self._decode(os.read(self._file, 1024))
        if text.startswith(ESCAPE) and len(text) > 1:
            return  # An arrow or some such: nothing that we know.
        for character in text:
            if self._wanted or self._pressed.qsize():
                self._pressed.put_nowait(character)
            elif character == ESCAPE:
                self._on_escape()
            else:
                self.ahead += character


def _show(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()

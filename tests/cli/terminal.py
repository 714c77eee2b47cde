"""Runs the program on a pseudo-terminal, as a person would see it."""

from __future__ import annotations

import codecs
import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.cli.command_line import DEADLINE, PROGRAM, CommandLine, Process
from tests.cli.forked import Forked


class Terminal:
    """A program on a terminal; what it wrote so far is `seen`."""

    def __init__(self, process: Process, screen: int, keyboard: int, before: list[Any]) -> None:
        self.process = process
        self.before = before
        """How the terminal was set when the program was started."""
        self.seen = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")  # a read may end inside a character
        self._screen = screen
        self._keyboard = keyboard

    def expect(self, text: str, patience: float = DEADLINE, *, after: str = "") -> None:
        """Read until the text was written, after the last place of `after` where that is given."""
        until = time.monotonic() + patience
        while text not in (self.seen.rpartition(after)[2] if after else self.seen):
            assert time.monotonic() < until, f"{text!r} did not come: {self.seen[-2000:]!r}"
            self._read(0.1)

    def type(self, text: str) -> None:
        """What a person types."""
        os.write(self._screen, text.encode())

    def wait(self) -> int:
        """Read to the end; returns the exit code."""
        until = time.monotonic() + DEADLINE
        while self.process.poll() is None:
            assert time.monotonic() < until, self.seen[-2000:]
            self._read(0.05)
        self._read(0)
        assert self.process.returncode is not None
        return self.process.returncode

    def settings(self) -> list[Any]:
        """How the terminal is set."""
        return termios.tcgetattr(self._keyboard)

    def _read(self, patience: float) -> None:
        while select.select([self._screen], [], [], patience)[0]:
            try:
                self.seen += self._decoder.decode(os.read(self._screen, 65536))
            except OSError:
                return
            patience = 0


@contextmanager
def terminal(
    toolcrib: CommandLine,
    *words: str,
    columns: int = 100,
    rows: int = 30,
    real: bool = False,
    program: Path = PROGRAM,
) -> Iterator[Terminal]:
    """The program, or a shell that runs it, on a terminal of this size, for as long as the block lasts."""
    screen, keyboard = pty.openpty()
    fcntl.ioctl(keyboard, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    before = termios.tcgetattr(keyboard)
    process = _start([str(program), *words], toolcrib.environment, keyboard, real=real)
    try:
        yield Terminal(process, screen, keyboard, before)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        os.close(screen)
        os.close(keyboard)


def _start(command: list[str], environment: dict[str, str], keyboard: int, *, real: bool) -> Process:
    surroundings = {"TERM": "xterm-256color", **environment}
    streams = {"stdin": keyboard, "stdout": keyboard, "stderr": keyboard}
    if not real:
        return Forked(command, surroundings, **streams, on_terminal=True)
    return subprocess.Popen(
        command,
        text=True,
        env=surroundings,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(keyboard, termios.TIOCSCTTY, 0),
        **streams,
    )

"""A command under way: started through its keeper, drained however much it prints, ended with all it started.
Decides how much output is kept (start and end), the most that is printed, removed escape codes, and the size
of the screen.

Every `RunningCommand` must be stopped; a cancelled caller that does so leaves no process.
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import errno
import fcntl
import json
import os
import pty as pseudo
import re
import secrets
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from toolcrib.bundled.terminal import keeper
from toolcrib.serverkit.context import ToolFailure

KEPT_HEAD = 16 * 1024
KEPT_TAIL = 48 * 1024
_ESCAPES = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"
    r"|\x1b[PX^_][^\x1b]*(?:\x1b\\)?|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")

MARK = "TOOLCRIB_COMMAND"
MOST_PRINTED = 256 * 1024 * 1024
"""A command that prints more is ended."""
_SWEEP_EVERY = 0.05
_INSIST_AFTER = 3.0
"""Seconds for a keeper to end everything; it needs a fraction of that. Then we kill too what we know of."""
_PATIENCE = 8.0
"""Seconds until a keeper is given up."""


live_keepers: set[int] = set()
"""The processes above all commands that run now."""


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


class TerminalScreen:
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


class RunningCommand:
    """One command; made by `start`."""

    def __init__(self, mark: str, screen: TerminalScreen | None) -> None:
        self.output = Output()
        self.errors: Output | None = None
        """What it printed to stderr, if that is kept apart."""
        self.screen = screen
        self.done = asyncio.Event()
        """Set once the command and all that came of it are gone."""
        self.code: int | None = None
        self.why = ""
        """What ended it, when it did not end by itself."""
        self.left = 0
        """How many processes it left behind; they were ended."""
        self.ended = 0
        """How many processes ran when it was stopped; 0 if that is unknown, or it ended by itself."""
        self._mark = mark
        self._control = -1
        self._input = -1
        self._reported = b""
        self._keeper: subprocess.Popen[bytes] | None = None
        self._readers: list[int] = []
        self._open = 0
        self._loop = asyncio.get_running_loop()

    @classmethod
    def start(
        cls,
        order: Mapping[str, Any],
        env: Mapping[str, str],
        *,
        pty: bool = False,
        feed: bool = False,
        errors: bool = False,
    ) -> RunningCommand:
        """Start what the order says; `feed` keeps its input open, `errors` keeps stderr apart.

        Raises `ToolFailure` when it cannot be started.
        """
        mark = secrets.token_hex(12)
        running = cls(mark, TerminalScreen() if pty else None)
        running.errors = Output() if errors else None
        try:
            running._spawn({**order, "pty": pty}, {**env, MARK: mark}, pty=pty, feed=feed)
        except OSError as error:
            running._close()
            raise ToolFailure(
                f"The command cannot be started: {error.strerror}.", "Try again later."
            ) from error
        return running

    @property
    def alive(self) -> bool:
        """Whether anything of it is left."""
        return not self.done.is_set()

    def type(self, text: str) -> None:
        """Write to its input; raises `ToolFailure` when it takes none."""
        if self._input < 0 or not self.alive:
            raise ToolFailure(
                "The command takes no input.", "It has ended, or it was not started in the background."
            )
        data = text.encode("utf-8", "replace")
        try:
            written = os.write(self._input, data)
        except BlockingIOError:
            written = 0
        except OSError as error:
            raise ToolFailure(f"The command takes no more input: {error.strerror}.") from error
        if written < len(data):
            raise ToolFailure(
                f"The command accepted only {written} of {len(data)} bytes.", "Wait until it has read them."
            )

    def end_input(self) -> None:
        """Nothing more comes."""
        if self.screen is None and self._input >= 0:
            os.close(self._input)
            self._input = -1

    def text(self) -> str:
        """Output so far, or the screen of a full-screen program."""
        return self.output.text() if self.screen is None else self.screen.text()

    def let_go(self) -> None:
        """Have it ended by its keeper, without waiting."""
        self._close_control()

    async def stop(self) -> None:
        """End it and everything it started; returns when nothing is left."""
        if self.done.is_set():
            return
        self._close_control()
        insisting = self._loop.call_later(_INSIST_AFTER, self._sweep)
        try:
            async with asyncio.timeout(_PATIENCE):
                await self.done.wait()
        except TimeoutError:
            self._abandon()
        finally:
            insisting.cancel()

    def _spawn(self, order: Mapping[str, Any], env: Mapping[str, str], *, pty: bool, feed: bool) -> None:
        control, self._control = os.pipe()
        status, telling = os.pipe()
        theirs = [control, telling]
        try:
            given, taken, ours = _streams(pty=pty, feed=feed)
            self._input = ours[0]
            theirs += {given, taken}
            errors, failing = os.pipe() if self.errors is not None else (-1, taken)
            theirs += {failing} - {taken}
            command = [sys.executable, "-I", "-S", str(Path(keeper.__file__)), str(control), str(telling)]
            self._keeper = subprocess.Popen(
                command,
                stdin=given,
                stdout=taken,
                stderr=failing,
                pass_fds=(control, telling),
                start_new_session=True,
                env=dict(env),
                cwd="/",
            )
            live_keepers.add(self._keeper.pid)
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        os.write(self._control, json.dumps(order).encode() + b"\n")
        self._read(status, self._report, self._last_word)
        self._read(ours[1], self._printed, lambda: None)
        if self.errors is not None:
            self._read(errors, self._printed_error, lambda: None)

    def _read(self, descriptor: int, take: Callable[[bytes], None], closed: Callable[[], None]) -> None:
        os.set_blocking(descriptor, False)
        self._readers.append(descriptor)
        self._open += 1

        def ready() -> None:
            try:
                data = os.read(descriptor, 65536)
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno != errno.EIO:  # how a terminal says that its other end is closed
                    raise
                data = b""
            if data:
                take(data)
                return
            self._loop.remove_reader(descriptor)
            self._readers.remove(descriptor)
            if descriptor != self._input:
                os.close(descriptor)
            self._open -= 1
            closed()
            if not self._open:
                self._finish()

        self._loop.add_reader(descriptor, ready)

    def _printed_error(self, data: bytes) -> None:
        if self.errors is not None:
            self.errors.take(data)
            self._check_amount(self.errors)

    def _printed(self, data: bytes) -> None:
        self.output.take(data)
        if self.screen is not None:
            self.screen.take(data)
        self._check_amount(self.output)

    def _check_amount(self, output: Output) -> None:
        if output.total > MOST_PRINTED and not self.why:
            self.why = f"it printed more than {MOST_PRINTED // 2**20} MiB"
            self._close_control()

    def _report(self, data: bytes) -> None:
        self._reported += data

    def _last_word(self) -> None:
        """The keeper is gone; if it did not say how it went, it was killed before it could end the rest."""
        if not self._reported:
            self._reported = b'{"why": "its keeper was killed"}'
            self._sweep()

    def _sweep(self, times: int = 100) -> None:
        """End what carries our mark, again and again: one may have been forked just then."""
        end_marked(self._mark, spare=self._keeper.pid if self._keeper is not None else 0)
        if times > 0 and not self.done.is_set():
            self._loop.call_later(_SWEEP_EVERY, self._sweep, times - 1)

    def _finish(self) -> None:
        report: dict[str, Any] = json.loads(self._reported)
        self.code = report.get("code")
        self.why = self.why or report.get("error", "") or report.get("why", "")
        self.left = report.get("left", 0)
        self.ended = report.get("running", 0)
        self._close()
        self.done.set()

    def _abandon(self) -> None:
        """The keeper does not answer: end it and all processes with our mark."""
        self.why = self.why or "stopped"
        if self._keeper is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._keeper.pid, signal.SIGKILL)
        end_marked(self._mark)
        self._close()
        self.done.set()

    def _close_control(self) -> None:
        if self._control >= 0:
            os.close(self._control)
            self._control = -1

    def _close(self) -> None:
        self._close_control()
        for descriptor in self._readers:
            self._loop.remove_reader(descriptor)
        for descriptor in {*self._readers, self._input} - {-1}:
            with contextlib.suppress(OSError):
                os.close(descriptor)
        self._readers.clear()
        self._input = -1
        if self._keeper is not None:
            live_keepers.discard(self._keeper.pid)
            # It has reported; waiting for its end takes no time.
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._keeper.wait(timeout=2)


def _streams(*, pty: bool, feed: bool) -> tuple[int, int, tuple[int, int]]:
    """Their input, their output, and our ends of both."""
    if pty:
        ours, theirs = pseudo.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        os.set_blocking(ours, False)
        return theirs, theirs, (ours, ours)
    reading, writing = os.pipe()
    if not feed:
        return os.open(os.devnull, os.O_RDONLY), writing, (-1, reading)
    given, typing = os.pipe()
    os.set_blocking(typing, False)
    return given, writing, (typing, reading)


def end_marked(mark: str, spare: int = 0) -> None:
    """Kill the processes with the mark in their environment (Linux), except one."""
    wanted = f"{MARK}={mark}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            marked = wanted in (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if marked and int(folder.name) != spare:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(int(folder.name), signal.SIGKILL)

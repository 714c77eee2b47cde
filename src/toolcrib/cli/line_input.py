"""Reads messages while the event loop runs: from a terminal with history, or lines from a pipe.

On a terminal, a paste is one message, and nothing that is typed or pasted early is lost.
"""

from __future__ import annotations

import asyncio
import sys
import termios
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from io import TextIOWrapper
from pathlib import Path
from types import TracebackType
from typing import Self

from toolcrib.cli.keyboard import (
    ALT_ENTER,
    END,
    ENTER,
    NEW_LINE,
    KeyDecoder,
    PastedText,
    clean,
    key_mode,
    mark_pastes,
    read_burst,
    read_paste,
    typed_ahead,
)

MAX_HISTORY = 1000
PROMPT = "› "
INTERRUPT = "\x03\u2063"
"""Ctrl-C, and an invisible character that distinguishes it from one in a paste."""
_BINDINGS = (
    r'"\e[990~": end-of-line',
    r'"\e[991~": quoted-insert',
    r'"\e[992~": accept-line',
    '"\\C-c": "\\e[990~\\e[991~\\C-c\u2063\\e[992~"',
    r'"\C-j": "\e[990~\e[991~\C-j\e[992~"',
    r'"\e[": skip-csi-sequence',
    r'"\e[200~": insert-completions',
    *(
        rf'"{keys}": "\e[991~\C-j"'
        for keys in (
            sent.replace("\x1b", r"\e").replace("\r", r"\C-m").replace("\n", r"\C-j") for sent in ALT_ENTER
        )
    ),
    "set enable-bracketed-paste on",
    "set bell-style none",
)
"""Ctrl-C and Ctrl-J end the line with themselves, Alt-Enter adds a line break, unknown keys do nothing, and
`_insert_paste` completes what a paste begins; the sequences for the commands are sent by no key."""


class Prompt:
    """Used as `with Prompt(history) as prompt`."""

    def __init__(self, history: Path, *, interactive: bool) -> None:
        self._history = history
        self._interactive = interactive
        self._terminal = ExitStack()
        self._ahead = ""
        """Text that was typed early, as in `typed_ahead`."""

    def __enter__(self) -> Self:
        if isinstance(sys.stdin, TextIOWrapper):
            sys.stdin.reconfigure(errors="replace")
        if self._interactive:
            if find_spec("readline"):
                # Also between two lines: otherwise the terminal would cut long lines and show them twice.
                self._terminal.enter_context(key_mode(sys.stdin.fileno(), signals=True))
            _load(self._history)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._interactive:
            # Leaving in the middle of a line leaves the terminal in readline's mode.
            self._terminal.close()
            mark_pastes(on=False)
            _save(self._history)

    def push(self, text: str) -> None:
        """Add what was typed early, as in `typed_ahead`: the next messages begin with it."""
        self._ahead += text

    async def read(self) -> str | None:
        """The next message; None at the end. Ctrl-C discards a line with text, and ends at an empty one."""
        while (line := await self._read()) is not None and line.endswith(INTERRUPT):
            if line == INTERRUPT:
                return None
        return line

    async def _read(self) -> str | None:
        if (line := self._sent_early()) is not None:
            return None if line.startswith(END) else clean(line)
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

    def _sent_early(self) -> str | None:
        line, sent, rest = self._ahead.partition(ENTER)
        if not sent and not line.startswith(END):
            return None
        self._ahead = rest
        return line

    def _line(self) -> str | None:
        try:
            if self._interactive:
                return self._message()
            line = sys.stdin.readline()
        except (EOFError, OSError):
            return None
        return line.rstrip("\r\n") if line else None

    def _message(self) -> str:
        while True:
            ahead, self._ahead = self._ahead, ""
            line = _ask(ahead)
            if line.endswith(INTERRUPT):
                return line
            self._add_rest(clean(line).rstrip(NEW_LINE), half_break=not line.endswith(NEW_LINE))
            if (whole := self._sent_early()) is not None:
                _remember(whole)
                return whole

    def _add_rest(self, line: str, *, half_break: bool) -> None:
        """Add what follows a line at once: the rest of an unmarked paste. After `half_break`, CR, drop LF."""
        decoder, rest = KeyDecoder(), read_burst(sys.stdin.fileno())
        pieces = [*decoder.feed(rest.removeprefix(b"\n") if half_break else rest), *decoder.end()]
        if pieces and isinstance(pieces[0], PastedText) and not pieces[0].marked:
            self._ahead = typed_ahead(pieces, line + NEW_LINE)
            sent = self._ahead.partition(ENTER)
            sys.stdout.write(f"{sent[0].removeprefix(line + NEW_LINE)}\n" if sent[1] else "")
        else:
            self._ahead = typed_ahead(pieces, line + ENTER)


def _ask(ahead: str) -> str:
    """Read a line that begins with what was typed early."""
    try:
        import readline
    except ImportError:
        return ahead + input(PROMPT)
    readline.set_auto_history(False)
    readline.set_startup_hook(lambda: readline.insert_text(ahead))
    readline.set_completer(_insert_paste)
    try:
        with _keys_of_readline():
            return input(PROMPT)
    finally:
        readline.set_startup_hook()


def _insert_paste(text: str, state: int) -> None:
    """Insert a paste at the cursor; readline's own command ends it at a NUL, and doubles breaks of CR LF."""
    import readline

    if readline.get_completion_type() == ord("*"):
        readline.insert_text(read_paste(sys.stdin.fileno()))


def _remember(message: str) -> None:
    try:
        import readline
    except ImportError:
        return
    if message.strip():
        readline.add_history(message)


@contextmanager
def _keys_of_readline() -> Iterator[None]:
    """Pass Ctrl-C to readline as a key: a signal could end the program, but not clear the line.

    libedit, the other implementation of readline, lacks these commands; there Ctrl-C ends the program.
    """
    import readline

    before = termios.tcgetattr(sys.stdin)
    changed = termios.tcgetattr(sys.stdin)
    changed[3] |= termios.ECHO  # Otherwise readline would not show what is typed.
    if "libedit" not in (readline.__doc__ or ""):
        for binding in _BINDINGS:
            readline.parse_and_bind(binding)
        changed[6][termios.VINTR] = changed[6][termios.VQUIT] = b"\0"
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

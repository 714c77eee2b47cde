"""Reads keys and pastes from a terminal while the event loop runs; the terminal is always restored. Prompt
and history of chats, Alt-Enter for a line break, Ctrl-C, Esc, and the pause before a question accepts keys.

Only a key pressed while a question waits for it is an answer. Keys typed earlier, pastes and key repeats are
kept for the next prompt.

Messages are read with history, or as lines from a pipe. On a terminal, a paste is one message, and nothing
that is typed or pasted early is lost.
"""

from __future__ import annotations

import asyncio
import codecs
import os
import re
import signal
import sys
import termios
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from io import TextIOWrapper
from pathlib import Path
from types import TracebackType
from typing import Self

ESCAPE = "\x1b"
ENTER = "\r"
NEW_LINE = "\n"
"""Alt-Enter: a line break inside a text."""
END = "\x04"
"""Ctrl-D."""
ERASE = ("\x7f", "\b")
QUIET = 0.5
"""Seconds without a key before a question accepts answers."""
PASTED = "  That was more than one key; press a single key."
PASTE_GAP = 0.03
"""Seconds within which the rest of a paste follows, in terminals that do not mark it."""
_READ = 65536
_REST_OF_SEQUENCE = 0.05
"""Seconds within which the rest of an escape sequence, such as an arrow key, follows."""
_REST_OF_PASTE = 1.0
"""Seconds without data after which a paste whose end was not marked has ended."""
_PASTE_BEGINS, _PASTE_ENDS = "\x1b[200~", "\x1b[201~"
_PASTE_ON, _PASTE_OFF = "\x1b[?2004h", "\x1b[?2004l"
ALT_ENTER = ("\x1b\r", "\x1b\n", "\x1b[13;2u", "\x1b[13;3u", "\x1b[27;2;13~", "\x1b[27;3;13~")
"""Sent by terminals for Alt-Enter, and by some for Shift-Enter."""
_KEY = re.compile(
    rf"(?P<new>{'|'.join(map(re.escape, ALT_ENTER))})"
    r"|(?P<sequence>\x1b(?:\[[0-?]*[ -/]*[@-~]|O[@-~]|[^\[O\x1b]))|(?P<enter>\r\n|\r|\n)|(?P<other>.)",
    re.DOTALL,
)
_STYLE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_BEGUN = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|O)?\Z")
_SIGNALS = {"\x03": signal.SIGINT, "\x1a": signal.SIGTSTP, "\x1c": signal.SIGQUIT}


@dataclass(frozen=True)
class PastedText:
    """Several characters at once; without control characters, and with line breaks as `NEW_LINE`."""

    text: str
    marked: bool = False
    """The terminal marked it as a paste."""
    ended: bool = False
    """It is not marked and ends with a line break, like a line that was typed quickly."""


Piece = str | PastedText
"""A single key, or a paste."""


class KeyDecoder:
    """Turns the bytes of a terminal into keys and pastes. Nothing inside a paste acts as a key."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._begun = ""
        """The beginning of an escape sequence."""
        self._paste: str | None = None
        self._half_break = False
        """The last character was CR: LF belongs to it."""

    @property
    def wait(self) -> float | None:
        """Seconds to wait for more before `end`; None if nothing is incomplete."""
        if self._paste is not None:
            return _REST_OF_PASTE
        return _REST_OF_SEQUENCE if self._begun else None

    def feed(self, data: bytes) -> list[Piece]:
        """The pieces of what was read at once: a single key, or else pastes."""
        more = self._decode(data)
        more = more.removeprefix("\n") if self._half_break else more
        self._half_break = more.endswith("\r")
        text, self._begun = self._begun + more, ""
        pieces: list[Piece] = []
        while text:
            if self._paste is None:
                typed, mark, text = text.partition(_PASTE_BEGINS)
                pieces += self._typed(typed, last=not mark, alone=not mark and not pieces)
                self._paste = self._joined(pieces) if mark else None
            else:
                self._paste, end, text = (self._paste + text).partition(_PASTE_ENDS)
                pieces += self.end() if end else []
        return pieces

    def _joined(self, pieces: list[Piece]) -> str:
        """The beginning of a paste: text that arrived with its mark belongs to it, unless it was sent."""
        if not pieces or not isinstance(last := pieces[-1], PastedText) or last.ended:
            return ""
        pieces.pop()
        return last.text

    def end(self) -> list[Piece]:
        """The incomplete rest: Escape itself, or a paste without its end mark."""
        paste, begun = self._paste, self._begun
        self._paste, self._begun = None, ""
        if paste is not None:
            return [PastedText(clean(paste), marked=True)]
        return [ESCAPE] if begun == ESCAPE else []

    def _typed(self, text: str, *, last: bool, alone: bool) -> list[Piece]:
        begun = _BEGUN.search(text) if last else None
        if begun is not None:
            self._begun, text = begun.group(), text[: begun.start()]
        keys: list[Piece] = [key for match in _KEY.finditer(text) if (key := _key(match))]
        if (len(keys) == 1 and alone) or (keys and all(key in ERASE for key in keys)):
            return keys
        interrupts: list[Piece] = [key for key in keys if key == "\x03"]
        typed = typed_ahead(keys).rstrip(ENTER)
        ended = bool(keys) and keys[-1] == ENTER
        return [*interrupts, PastedText(clean(typed), ended=ended)] if typed or ended else interrupts


def _key(match: re.Match[str]) -> str:
    return {"new": NEW_LINE, "enter": ENTER, "sequence": ""}.get(match.lastgroup or "", match.group())


def clean(text: str) -> str:
    """The text without control characters and sequences; line breaks become `NEW_LINE`."""
    broken = _STYLE.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROL.sub("", broken)


def typed_ahead(pieces: Sequence[Piece], text: str = "") -> str:
    """The text followed by these pieces; `ENTER` marks where a message was sent."""
    for piece in pieces:
        if isinstance(piece, PastedText):
            text += piece.text + (ENTER if piece.ended else "")
        elif piece in ERASE:
            text = text[:-1] if text and text[-1] != ENTER else text
        elif piece in (ENTER, END) or not _CONTROL.match(piece):
            text += piece
    return text


@contextmanager
def key_mode(file: int, *, signals: bool) -> Iterator[None]:
    """Pass every key on at once, without echo, and keep what was typed before.

    Without `signals`, Ctrl-C and others are keys too: they may be part of a paste.
    """
    before = termios.tcgetattr(file)
    changed = termios.tcgetattr(file)
    changed[0] &= ~(termios.IXON | termios.ICRNL)  # A break of CR LF would become two.
    changed[3] &= ~(termios.ICANON | termios.ECHO | (0 if signals else termios.ISIG))
    changed[6][termios.VMIN], changed[6][termios.VTIME] = 1, 0
    termios.tcsetattr(file, termios.TCSADRAIN, changed)
    try:
        yield
    finally:
        termios.tcsetattr(file, termios.TCSADRAIN, before)


@contextmanager
def marked_pastes() -> Iterator[None]:
    """Ask the terminal to mark pastes."""
    mark_pastes(on=True)
    try:
        yield
    finally:
        mark_pastes(on=False)


def mark_pastes(*, on: bool) -> None:
    if os.environ.get("TERM", "dumb") != "dumb":
        _show(_PASTE_ON if on else _PASTE_OFF)


def read_burst(file: int, timeout: float = PASTE_GAP) -> bytes:
    """The bytes that arrive without a pause."""
    import select

    data = b""
    while select.select([file], [], [], timeout)[0] and (more := os.read(file, _READ)):
        data += more
    return data


def read_paste(file: int) -> str:
    """The rest of a paste whose beginning was read, and nothing that follows it."""
    import select

    data, end = bytearray(), _PASTE_ENDS.encode()
    while not data.endswith(end) and select.select([file], [], [], _REST_OF_PASTE)[0]:
        matched = next(size for size in range(len(end) - 1, -1, -1) if data.endswith(end[:size]))
        if not (more := os.read(file, len(end) - matched)):
            break
        data += more
    return clean(data.removesuffix(end).decode("utf-8", "replace"))


class TerminalKeyboard:
    """Used as `with TerminalKeyboard(on_escape) as keys`, on a terminal, inside an event loop.

    Without `on_escape`, nothing is read before the first question: it stays for the shell.
    """

    def __init__(self, on_escape: Callable[[], object] | None = None) -> None:
        self._on_escape = on_escape
        self._file = sys.stdin.fileno()
        self._decoder = KeyDecoder()
        self._pressed: asyncio.Queue[Piece] = asyncio.Queue()
        self._wanted = False
        self._reading = ExitStack()
        self._listens = False
        self._timer: asyncio.TimerHandle | None = None
        self._typed_at = 0.0
        self.ahead = ""
        """The text typed without a question, as in `typed_ahead`: for the next prompt."""

    def __enter__(self) -> Self:
        if self._on_escape is not None:
            self._listen()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._listens:
            asyncio.get_running_loop().remove_reader(self._file)
        self._reading.close()
        self.ahead = typed_ahead(self._decoder.end(), self.ahead)

    def _listen(self) -> None:
        if not self._listens:
            self._listens = True
            self._reading.enter_context(key_mode(self._file, signals=False))
            self._reading.enter_context(marked_pastes())
            asyncio.get_running_loop().add_reader(self._file, self._read)

    async def settle(self) -> None:
        """Wait for a pause in typing; call it between a question and its choices."""
        self._listen()
        loop = asyncio.get_running_loop()
        self._typed_at = loop.time()
        while (left := self._typed_at + QUIET - loop.time()) > 0:  # noqa: ASYNC110 - every key extends it
            await asyncio.sleep(left)

    async def key(self) -> str:
        """The next key; several characters at once are a paste, which is kept for the next prompt."""
        self._want()
        try:
            while isinstance(pressed := await self._pressed.get(), PastedText):
                self.ahead += pressed.text
                _show(f"{PASTED}\n")
            return pressed
        finally:
            self._stop_listening()

    async def line(self, prompt: str) -> str | None:
        """A line, shown as it is typed; None after Escape. A paste does not end it."""
        _show(prompt)
        self._want()
        try:
            return await self._typed_line()
        finally:
            self._stop_listening()
            _show("\n")

    def stop(self) -> None:
        """Do what Escape does without a question."""
        if self._on_escape is not None:
            self._on_escape()

    async def _typed_line(self) -> str | None:
        typed = ""
        while (piece := await self._pressed.get()) != ENTER:
            if piece == ESCAPE:
                return None
            if piece in ERASE:
                _show("\b \b" if typed else "")
            added = typed_ahead([piece], typed).replace(ENTER, NEW_LINE)
            _show(added[len(typed) :].replace("\n", " "))
            typed = added
        return typed.strip()

    def _want(self) -> None:
        self._listen()
        self._wanted = True

    def _stop_listening(self) -> None:
        self._wanted = False
        while not self._pressed.empty():
            self._keep(self._pressed.get_nowait())

    def _read(self) -> None:
        try:
            data = os.read(self._file, _READ)
        except OSError:
            data = b""
        if not data:  # The terminal was closed.
            asyncio.get_running_loop().remove_reader(self._file)
            return
        if self._timer is not None:
            self._timer.cancel()
        self._take(self._decoder.feed(data))
        wait = self._decoder.wait
        loop = asyncio.get_running_loop()
        self._timer = None if wait is None else loop.call_later(wait, lambda: self._take(self._decoder.end()))

    def _take(self, pieces: Sequence[Piece]) -> None:
        before, self._typed_at = self._typed_at, asyncio.get_running_loop().time()
        if self._typed_at - before < PASTE_GAP and any(isinstance(piece, PastedText) for piece in pieces):
            # The rest of a paste that could not be read at once, although it began with whole lines.
            self.ahead = self.ahead.removesuffix(ENTER) + NEW_LINE * self.ahead.endswith(ENTER)
        for piece in pieces:
            if isinstance(piece, str) and piece in _SIGNALS:
                os.killpg(os.getpgrp(), _SIGNALS[piece])
            elif self._wanted:
                self._pressed.put_nowait(piece)
            else:
                self._keep(piece)

    def _keep(self, piece: Piece) -> None:
        if piece == ESCAPE:
            self.stop()
        else:
            self.ahead = typed_ahead([piece], self.ahead)


def _show(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


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

"""Asks the user on the terminal, on stderr: stdout is for data. Yes or no, a choice, a hidden secret (with
its largest size), and the key of a shared database.

A question accepts answers after a pause in typing: earlier keys are not answers.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import click

from toolcrib.cli.keyboard import (
    END,
    ENTER,
    QUIET,
    KeyDecoder,
    PastedText,
    clean,
    key_mode,
    marked_pastes,
    read_burst,
    typed_ahead,
)
from toolcrib.errors import DatabaseKeyMissing, UsageError

T = TypeVar("T")

LARGEST_SECRET = 64 * 1024
LARGEST_KEY = 1000
_REACTION = 0.2
"""Seconds within which Python handles a signal, unless it missed it."""


def can_ask() -> bool:
    """True on a terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def confirm(question: str, *, default: bool = False) -> bool:
    """Ask yes or no; a paste is not an answer."""
    choices = " [Y/n]: " if default else " [y/N]: "
    with _asking(question):
        while True:
            answer, pasted = _read_text(choices)
            if not answer and not pasted:
                return default
            if not pasted and answer.lower() in ("y", "yes", "n", "no"):
                return answer.lower().startswith("y")
            _discard_typed()
            click.echo("Type y or n, then press Enter.", nl=False, err=True)


def ask_unseen(question: str, *, empty: bool = False) -> str:
    """Ask for a text that is not shown while it is typed; `empty` makes it optional.

    A paste may have several lines; line breaks at its end do not belong to it.
    """
    with _asking(question):
        while not (answer := _read_text(": ", shown=False)[0]) and not empty:
            pass
        return answer


def read_secret(question: str, *, name: str = "The value") -> str:
    """Read a secret from a hidden prompt or from stdin; other users can read command lines."""
    if sys.stdin.isatty():
        return ask_unseen(question)
    value = sys.stdin.read(LARGEST_SECRET + 1)
    if len(value) > LARGEST_SECRET:
        raise UsageError(f"{name} is longer than {LARGEST_SECRET} characters.")
    # `echo value |` and files end in a line break that is not part of it.
    return value.removesuffix("\n").removesuffix("\r")


def ask(question: str, default: str = "") -> str:
    """Ask for an optional line of text."""
    with _asking(question):
        while "\n" in (answer := _read_text(f" [{default}]: " if default else ": ")[0]):
            click.echo("That was more than one line; enter a single line.", nl=False, err=True)
        return answer or default


def choose(question: str, choices: Sequence[str]) -> str:
    """Ask for one of these; the first is the default."""
    offered = ", ".join(choices)
    with _asking(question):
        while True:
            answer = _read_text(f" ({offered}) [{choices[0]}]: ")[0] or choices[0]
            if answer in choices:
                return answer
            click.echo(f"Enter one of {offered}.", nl=False, err=True)


key_file = click.option(
    "--database-key-file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Read the key of a shared database from this file.",
)
"""For commands that may need the key of a shared database."""


def given_key(file: Path | None) -> str | None:
    """The key that the command was given; raises `UsageError` for a file that cannot be read."""
    from toolcrib.config.database_key import VARIABLE

    if file is None:
        return os.environ.get(VARIABLE) or None
    try:
        with file.open("rb") as opened:
            return opened.read(LARGEST_KEY).decode("ascii", "replace")
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}.") from None


async def with_key(given: str | None, work: Callable[[str | None], Awaitable[T]]) -> T:
    """Do something that may need the key; it is asked for if it was not given."""
    try:
        return await work(given)
    except DatabaseKeyMissing:
        if given is not None or not can_ask():
            raise
    question = "Key of the database, which `toolcrib database key` shows on a machine that uses it:"
    return await work(ask_unseen(question))


def _read_text(prompt: str, *, shown: bool = True) -> tuple[str, bool]:
    """The text typed until Enter, and True if it was pasted: marked as such, or several lines at once."""
    file, decoder = sys.stdin.fileno(), KeyDecoder()
    typed, marked = "", False
    click.echo(prompt, nl=False, err=True)
    while not typed.endswith(ENTER):
        data = os.read(file, 1)
        pieces = decoder.feed(data + read_burst(file)) if data else [END]
        marked = marked or any(isinstance(piece, PastedText) and piece.marked for piece in pieces)
        added = typed_ahead(pieces, typed)
        if END in added:  # Ctrl-D, or the terminal was closed.
            raise click.Abort
        if shown:
            _echo(typed, added)
        typed = added
    click.echo(err=True)
    text = clean(typed).strip("\n")
    return text if not shown else text.strip(), marked or "\n" in text


def _echo(before: str, after: str) -> None:
    erased = "\b \b" * max(0, len(before) - len(after))
    click.echo(erased + after[len(before) :].strip(ENTER).replace("\n", " "), nl=False, err=True)


@contextmanager
def _asking(question: str) -> Iterator[None]:
    """Show a question, and discard what was typed before it; nothing is echoed by the terminal."""
    with _default_signals(), key_mode(sys.stdin.fileno(), signals=True), marked_pastes():
        click.echo(question, nl=False, err=True)
        _discard_typed()
        yield


def _discard_typed() -> None:
    """Discard everything typed until a pause."""
    read_burst(sys.stdin.fileno(), QUIET)


@contextmanager
def _default_signals() -> Iterator[None]:
    """Handle signals without the event loop, which a question blocks: Ctrl-C would do nothing."""
    before = {signal.SIGINT: signal.signal(signal.SIGINT, signal.default_int_handler)}
    for number in (signal.SIGTERM, signal.SIGHUP):
        before[number] = signal.signal(number, signal.SIG_DFL)
    try:
        with _repeated_interrupt():
            yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _repeated_interrupt() -> Iterator[None]:
    """Makes a Ctrl-C just before reading end the reading too.

    Python's `input` ignores one that comes while it flushes, and handles one just before its system call
    only after it. So the signal is repeated until the question is over.
    """
    over = threading.Event()
    main = threading.get_ident()
    receiver, sender = socket.socketpair()
    sender.setblocking(False)

    def repeat() -> None:
        while (number := receiver.recv(1)) != bytes([signal.SIGINT]):
            if not number:
                return
        while not over.wait(_REACTION):
            signal.pthread_kill(main, signal.SIGINT)

    before = signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
    repeater = threading.Thread(target=repeat, name="questions", daemon=True)
    repeater.start()
    try:
        yield
    finally:
        over.set()
        signal.set_wakeup_fd(before)
        sender.close()
        repeater.join()
        receiver.close()

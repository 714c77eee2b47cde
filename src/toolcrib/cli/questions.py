"""Questions to the user at the terminal; on stderr, so that stdout holds the answer alone.

Each is shown first and takes answers once nothing was typed for a moment: what is typed before is no answer.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click

QUIET = 0.5
"""Seconds without a key before a question takes answers."""
_PASTE = 0.05
"""Seconds within which the next line of a paste follows."""
_REACTION = 0.2
"""Seconds within which Python sees to a signal, unless it missed it."""


def can_ask() -> bool:
    """True when there is a person to ask."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def confirm(question: str, *, default: bool = False) -> bool:
    """Yes or no; several lines at once are a paste and no answer."""
    with _signals_as_usual():
        _show(question)
        while True:
            answer = click.confirm("", default=default, err=True)
            if not _more_was_typed():
                return answer
            _discard_typed()
            click.echo("Type y or n, then press Enter.", nl=False, err=True)


def ask_unseen(question: str, *, empty: bool = False) -> str:
    """A text that is not shown while it is typed; `empty` lets it be left out."""
    with _signals_as_usual():
        _show(question)
        return str(
            click.prompt("", default="" if empty else None, show_default=False, hide_input=True, err=True)
        )


def ask(question: str, default: str = "") -> str:
    """A text; may be left out."""
    with _signals_as_usual():
        _show(question)
        return str(click.prompt("", default=default, show_default=bool(default), err=True))


def choose(question: str, choices: Sequence[str]) -> str:
    """One of these; the first when nothing is typed."""
    with _signals_as_usual():
        _show(question)
        return str(click.prompt("", type=click.Choice(choices), default=choices[0], err=True))


def _show(question: str) -> None:
    click.echo(question, nl=False, err=True)
    _discard_typed()


def _discard_typed() -> None:
    """Discard what was typed so far, and until nothing was typed for a moment."""
    if not sys.stdin.isatty():
        return
    import select
    import termios
    import tty

    file = sys.stdin.fileno()
    before = termios.tcgetattr(file)
    tty.setcbreak(file, termios.TCSAFLUSH)
    try:
        while select.select([file], [], [], QUIET)[0]:
            if not os.read(file, 1024):
                return
    finally:
        termios.tcsetattr(file, termios.TCSAFLUSH, before)


def _more_was_typed() -> bool:
    import select

    return sys.stdin.isatty() and bool(select.select([sys.stdin], [], [], _PASTE)[0])


@contextmanager
def _signals_as_usual() -> Iterator[None]:
    """While a question blocks the event loop, the loop cannot see to signals: Ctrl-C would do nothing."""
    before = {signal.SIGINT: signal.signal(signal.SIGINT, signal.default_int_handler)}
    for number in (signal.SIGTERM, signal.SIGHUP):
        before[number] = signal.signal(number, signal.SIG_DFL)
    try:
        with _insisting():
            yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _insisting() -> Iterator[None]:
    """A Ctrl-C that comes in the moment before the program reads ends the reading too.

    Python's `input` swallows one that comes while it flushes, and one that comes just before its system call
    is seen to after it. So the signal is repeated until the question is over.
    """
    over = threading.Event()
    asker = threading.get_ident()
    heard, told = socket.socketpair()
    told.setblocking(False)

    def insist() -> None:
        while (number := heard.recv(1)) != bytes([signal.SIGINT]):
            if not number:
                return
        while not over.wait(_REACTION):
            signal.pthread_kill(asker, signal.SIGINT)

    before = signal.set_wakeup_fd(told.fileno(), warn_on_full_buffer=False)
    insisting = threading.Thread(target=insist, name="questions", daemon=True)
    insisting.start()
    try:
        yield
    finally:
        over.set()
        signal.set_wakeup_fd(before)
        told.close()
        insisting.join()
        heard.close()

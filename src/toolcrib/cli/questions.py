"""Asks the user on the terminal, on stderr: stdout is for data.

A question accepts answers after a pause in typing: earlier keys are not answers.
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
"""Seconds without a key before a question accepts answers."""
_PASTE = 0.05
"""Seconds within which the next line of a paste follows."""
_REACTION = 0.2
"""Seconds within which Python handles a signal, unless it missed it."""


def can_ask() -> bool:
    """True on a terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def confirm(question: str, *, default: bool = False) -> bool:
    """Ask yes or no; several lines at once are a paste, not an answer."""
    with _default_signals():
        _show(question)
        while True:
            answer = click.confirm("", default=default, err=True)
            if not _more_was_typed():
                return answer
            _discard_typed()
            click.echo("Type y or n, then press Enter.", nl=False, err=True)


def ask_unseen(question: str, *, empty: bool = False) -> str:
    """Ask for a text that is not shown while it is typed; `empty` makes it optional."""
    with _default_signals():
        _show(question)
        return str(
            click.prompt("", default="" if empty else None, show_default=False, hide_input=True, err=True)
        )


def ask(question: str, default: str = "") -> str:
    """Ask for an optional text."""
    with _default_signals():
        _show(question)
        return str(click.prompt("", default=default, show_default=bool(default), err=True))


def choose(question: str, choices: Sequence[str]) -> str:
    """Ask for one of these; the first is the default."""
    with _default_signals():
        _show(question)
        return str(click.prompt("", type=click.Choice(choices), default=choices[0], err=True))


def _show(question: str) -> None:
    click.echo(question, nl=False, err=True)
    _discard_typed()


def _discard_typed() -> None:
    """Discard everything typed until a pause."""
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

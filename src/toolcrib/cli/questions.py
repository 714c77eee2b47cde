"""Questions to the person at the terminal; on stderr, so that stdout holds the answer alone."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click


def can_ask() -> bool:
    """True when there is a person to ask."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def confirm(question: str, *, default: bool = False) -> bool:
    """Yes or no."""
    with _signals_as_usual():
        return click.confirm(question, default=default, err=True)


def ask_unseen(question: str) -> str:
    """A text that is not shown while it is typed."""
    with _signals_as_usual():
        return str(click.prompt(question, hide_input=True, err=True))


@contextmanager
def _signals_as_usual() -> Iterator[None]:
    """While a question blocks the event loop, the loop cannot see to signals: Ctrl-C would do nothing."""
    before = {signal.SIGINT: signal.signal(signal.SIGINT, signal.default_int_handler)}
    for number in (signal.SIGTERM, signal.SIGHUP):
        before[number] = signal.signal(number, signal.SIG_DFL)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

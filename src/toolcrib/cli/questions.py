"""Questions to the person at the terminal; on stderr, so that stdout holds the answer alone."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click


def can_ask() -> bool:
    """True when there is a person to ask."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def confirm(question: str, *, default: bool = False) -> bool:
    """Yes or no."""
    with _signals_as_usual():
        return click.confirm(question, default=default, err=True)


def ask_unseen(question: str, *, empty: bool = False) -> str:
    """A text that is not shown while it is typed; `empty` lets it be left out."""
    with _signals_as_usual():
        return str(
            click.prompt(
                question, default="" if empty else None, show_default=False, hide_input=True, err=True
            )
        )


def ask(question: str, default: str = "") -> str:
    """A text; may be left out."""
    with _signals_as_usual():
        return str(click.prompt(question, default=default, show_default=bool(default), err=True))


def choose(question: str, choices: Sequence[str]) -> str:
    """One of these; the first when nothing is typed."""
    with _signals_as_usual():
        return str(click.prompt(question, type=click.Choice(choices), default=choices[0], err=True))


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

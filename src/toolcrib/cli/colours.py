"""Colours where they can be seen and are wanted: on a terminal, without `NO_COLOR`."""

from __future__ import annotations

import os
from typing import TextIO

_CODES = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "cyan": "36",
}
_OF_STATE = {
    "ready": "green",
    "starting": "yellow",
    "degraded": "yellow",
    "backoff": "yellow",
    "failed": "red",
    "needs-auth": "red",
    "needs-config": "red",
    "needs-trust": "yellow",
    "disabled": "dim",
}


def wanted(stream: TextIO) -> bool:
    """True when colours make sense on this stream."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(text: str, colour: str, stream: TextIO) -> str:
    """The text in a colour, or as it is."""
    if not text or colour not in _CODES or not wanted(stream):
        return text
    return f"\x1b[{_CODES[colour]}m{text}\x1b[0m"


def of_state(state: str) -> str:
    """The colour of a server's state."""
    return _OF_STATE.get(state, "")

"""From where an operation was asked for: a command of this user's, or a page in a browser.

A page shows what other people wrote; so some things that a command may do at once wait for a person's word
when a page asks for them.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Literal

Asked = Literal["command", "page"]

asked_from: ContextVar[Asked] = ContextVar("asked_from", default="command")


def is_page() -> bool:
    """True while an operation runs that a page asked for."""
    return asked_from.get() == "page"

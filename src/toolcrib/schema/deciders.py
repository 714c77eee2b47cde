"""Who makes the decisions of the current task (user, browser or client, and machine), as surfaces say; stored
with each decision.
"""

from __future__ import annotations

import getpass
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

_LONGEST = 200
_deciding: ContextVar[str] = ContextVar("deciding", default="")


@contextmanager
def deciding(by: str) -> Iterator[None]:
    """Decisions in the block are made by this user, browser or client; empty changes nothing."""
    token = _deciding.set(by[:_LONGEST] or _deciding.get())
    try:
        yield
    finally:
        _deciding.reset(token)


def decider() -> str:
    """Who decides: by default the user of this process."""
    return _deciding.get() or f"user {_user()}"


@cache
def this_host() -> str:
    """The name of this machine."""
    return socket.gethostname()[:_LONGEST]


@cache
def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container without this user
        return str(os.getuid())

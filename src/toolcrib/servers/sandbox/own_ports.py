"""The ports on which this process serves its gateway, which no sandboxed server reaches through its proxy."""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

_open: Counter[int] = Counter()


@contextmanager
def claimed(port: int) -> Iterator[None]:
    """Keep sandboxed servers from this port of this machine while the block runs."""
    _open[port] += 1
    try:
        yield
    finally:
        _open[port] -= 1


def is_own(address: str, port: int) -> bool:
    """Whether this leads to our gateway."""
    return _open[port] > 0 and is_here(address)


def is_here(address: str) -> bool:
    """Whether an address is one of this machine: only to such a one can a socket be bound."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as trial:
            trial.bind((address, 0))
    except OSError:
        return False
    return True

"""The address of a Unix socket whose path may be longer than an address can be."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from toolcrib.config.paths import MAX_SOCKET_BYTES


@contextmanager
def address_of(path: Path) -> Iterator[str]:
    """What to bind or connect to while the block runs; a long path is named by its open folder (Linux)."""
    if len(os.fsencode(path)) <= MAX_SOCKET_BYTES:
        yield os.fspath(path)
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)

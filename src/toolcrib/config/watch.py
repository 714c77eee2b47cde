"""Notices that a file's content changed, such as the config file's, by looking: works on every file system
and survives every way of saving.

A touch is no change, and neither is a missing file: editors remove a file and write it again, and writing
defaults in between would lose the user's file.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from pathlib import Path

SETTLE = 0.05
"""Seconds after which a file that is being written in place is read again, until two readings agree."""

_Signature = tuple[int, int, int, int]


async def changes(path: Path, interval: float = 0.5, *, since: str | None = None) -> AsyncIterator[str]:
    """Yields the digest of the content each time it changed, for as long as one iterates.

    `since` is the digest of what the caller has read already (`Config.digest`), so that no edit is lost
    between that reading and this watch; without it, what is there at the first step counts as read.
    """
    seen = since if since is not None else digest_of(path)
    checked: tuple[_Signature, ...] = ()
    while True:
        signature = _signature(path)
        # Read once more after the first look: a second edit within one tick of the file system's clock shows
        # the same time and may have the same size.
        if signature is not None and checked != (signature, signature):
            checked = (*checked[-1:], signature)
            found = await _settled(path)
            if found is not None and found != seen:
                seen = found
                yield found
        await asyncio.sleep(interval)


def digest_of(path: Path) -> str | None:
    """The digest of a file's content; None when it is not there or cannot be read."""
    try:
        return digest(path.read_bytes())
    except OSError:
        return None


def digest(content: bytes) -> str:
    """The digest that `changes` yields for this content."""
    return hashlib.sha256(content).hexdigest()


async def _settled(path: Path) -> str | None:
    found = digest_of(path)
    while True:
        await asyncio.sleep(SETTLE)
        again = digest_of(path)
        if again == found:
            return found
        found = again


def _signature(path: Path) -> _Signature | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino, found.st_ctime_ns

"""The lines of a server's log file: when each was written, and whether the server wrote it or it tells what
happened to the server (started, ready, exited, stopped). Writes such a line, and reads all of them again.

A line is `2026-11-15T09:41:20.123Z | text`, with `=` instead of `|` if Toolcrib wrote it. Files of earlier
versions have text alone.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

OUTPUT = "|"
EVENT = "="
_STAMP = len("2026-11-15T09:41:20.123Z")
_START = _STAMP + len(" | ")
LONGEST_EVENT = 1000


class LogEntry(NamedTuple):
    """A line of a log; `time` is ISO 8601 in UTC, None if unknown."""

    time: str | None
    is_event: bool
    """It tells what happened to the server; else the server wrote it."""
    text: str


def stamped(lines: Iterable[str], mark: str = OUTPUT) -> bytes:
    """The lines as they are written to the file now."""
    now = time.time()
    moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now))
    start = f"{moment}.{int(now * 1000) % 1000:03d}Z {mark} "
    return "".join(f"{start}{line}\n" for line in lines).encode("utf-8", "replace")


def read_line(line: str) -> LogEntry:
    """A line of the file, without its end."""
    # By position: a hundred thousand lines may be read at once.
    mark = line[_STAMP + 1 : _STAMP + 2]
    if mark not in (OUTPUT, EVENT) or line[_STAMP - 1 : _STAMP + 1] != "Z " or line[10:11] != "T":
        return LogEntry(None, False, line)
    return LogEntry(line[:_STAMP], mark == EVENT, line[_START:])


def output_in(text: str) -> list[str]:
    """What the server itself wrote, of a part of the file."""
    entries = map(read_line, text.splitlines())
    return [entry.text for entry in entries if not entry.is_event]


def write_event(file: Path, text: str) -> None:
    """Tell in the log what happened to the server."""
    line = stamped([" ".join(text.split())[:LONGEST_EVENT]], EVENT)
    with contextlib.suppress(OSError):  # as in `ServerLog`: a full disk must not take the server down
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        descriptor = os.open(file, flags, 0o600)
        try:
            os.write(descriptor, line)
        finally:
            os.close(descriptor)

"""The standard streams of a command: a failure of stdout has its own error, and stderr never fails."""

from __future__ import annotations

import errno
import io
import os
import select
import sys
from contextlib import suppress
from typing import Any, TextIO, cast


class OutputFailed(OSError):
    """Stdout cannot be written. Without an `errno`: click would handle a closed pipe itself."""

    def __init__(self, reason: OSError) -> None:
        super().__init__(reason.strerror or str(reason))
        self.reader_is_gone = reason.errno == errno.EPIPE


class _Output(io.FileIO):
    """Stdout; waits for its reader, even if another program made the pipe non-blocking."""

    def write(self, data: Any, /) -> int:
        try:
            while (written := super().write(data)) is None:
                select.select([], [self], [])
        except OSError as error:
            raise OutputFailed(error) from None
        return written


class _Messages(io.FileIO):
    """Stderr; what cannot be shown is dropped, so that the command itself continues."""

    def write(self, data: Any, /) -> int:
        with suppress(OSError):
            super().write(data)
        return memoryview(data).nbytes


def prepare_streams() -> None:
    """Open the streams that are closed, and print characters that the encoding lacks as escapes.

    A closed stream would be given to the next file that is opened, and print into it.
    """
    for descriptor in (0, 1, 2):
        _open_if_closed(descriptor)
    sys.stdin = sys.stdin or open(0, closefd=False)  # noqa: SIM115
    sys.stdout = _replaced(sys.stdout, 1, _Output)
    sys.stderr = _replaced(sys.stderr, 2, _Messages)


def mute() -> None:
    """Discard all further output: it cannot be written, and flushing it at exit would fail."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _open_if_closed(descriptor: int) -> None:
    try:
        os.fstat(descriptor)
    except OSError:
        os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one


def _replaced(stream: TextIO | None, descriptor: int, raw: type[io.FileIO]) -> TextIO:
    """The same stream on a file of ours; one that a program put in its place is kept."""
    if stream is None:
        return _text(raw(descriptor, "w", closefd=False), "utf-8", line_buffering=True)
    if not isinstance(stream, io.TextIOWrapper) or stream.fileno() != descriptor:
        return stream
    stream.flush()
    return _text(raw(descriptor, "w", closefd=False), stream.encoding, line_buffering=stream.line_buffering)


def _text(raw: io.FileIO, encoding: str, **options: Any) -> TextIO:
    writer = io.BufferedWriter(cast("io.RawIOBase", raw))
    return io.TextIOWrapper(writer, encoding, errors="backslashreplace", **options)

"""A server's log: a rotating file (size, number of files) and a buffer of the last lines. Decides which lines
explain an exit, the error for it or for a slow start, the rate limit and the masking of secrets.

Output beyond a rate limit is counted and dropped, to protect the disk and the event loop; the very last lines
are always kept, because they show why a server ended. Known secret values are masked.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections import deque
from collections.abc import Collection
from pathlib import Path

from toolcrib.errors import ConnectionLost, SpawnFailed, StartFailed, ToolcribError
from toolcrib.servers.processes.log_lines import output_in, stamped

MOST_READ = 16 * 1024
LONGEST_SHOWN_LINE = 500
LAST_OUTPUT = " Last output: "
TELLING = re.compile(r"\b\w*(error|exception|fatal|panic|cannot|denied|refused|not found)\b", re.IGNORECASE)
"""Matches lines that usually explain a failure."""
CANNOT_RUN = {126: "is not executable", 127: "was not found"}

KEPT_LINES = 500
LONGEST_LINE = 8 * 1024
FILE_SIZE = 1024 * 1024
KEPT_FILES = 5
BYTES_PER_SECOND = 512 * 1024
MASK = "•••"


def exit_error(server: str, code: int | None, last_lines: list[str], *, ran: bool = False) -> ToolcribError:
    """The error for a process that exited; `ran` if it had sent a message before."""
    said = _said(last_lines)
    hint = f"See `toolcrib logs {server}`."
    if code in CANNOT_RUN and not ran:
        return SpawnFailed(f"The command of {server} {CANNOT_RUN[code]} (exit code {code}).{said}", hint=hint)
    how = f"was killed by signal {-code}" if code is not None and code < 0 else f"exited with code {code}"
    return ConnectionLost(f"{server} {how}.{said}", hint=hint)


def log_size(log: Path) -> int:
    """The size of a server's log now; a start that fails is explained by what comes after it."""
    try:
        return log.stat().st_size
    except OSError:
        return 0


def slow_start(server: str, message: str, log: Path, before: int) -> StartFailed:
    """The error for a server that was not ready in time, with what it wrote since the log had this size."""
    try:
        with log.open("rb") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(before if before <= end else 0, end - MOST_READ))
            lines = output_in(file.read().decode("utf-8", "replace"))
    except OSError:
        lines = []
    return StartFailed(f"{message}{_said(lines)}", hint=slow_start_hint(server))


def slow_start_hint(server: str) -> str:
    """The hint for a server that was not ready in time."""
    return f"See `toolcrib logs {server}`; raise timeouts.start if the server is just slow."


def _said(lines: list[str]) -> str:
    words = [line[:LONGEST_SHOWN_LINE] for line in telling_lines(lines)]
    return f"{LAST_OUTPUT}{' / '.join(words)}" if words else ""


def telling_lines(lines: list[str]) -> list[str]:
    """The last lines that explain a failure, if any (traces often end in braces); else the last lines."""
    spoken = [line.strip() for line in lines if line.strip()]
    telling = [line for line in spoken if TELLING.search(line)]
    return telling[-2:] or spoken[-3:]


class ServerLog:
    def __init__(self, path: Path | None = None, *, secrets: Collection[str] = ()) -> None:
        self.lines: deque[str] = deque(maxlen=KEPT_LINES)
        self.dropped_bytes = 0
        self._path = path
        self._secrets = _to_mask(secrets)
        # A secret at the cut can be masked only while it is complete.
        self._longest_partial = LONGEST_LINE + 4 * max(map(len, self._secrets), default=0)
        self._partial = b""
        self._dropped = b""
        self._told = 0
        self._descriptor: int | None = None
        self._size = 0
        self._second = 0.0
        self._spent = 0

    def feed(self, data: bytes) -> None:
        """Raw bytes of stderr."""
        if not self._afford(len(data)):
            self._drop(data)
            return
        self._resume()
        *lines, self._partial = (self._partial + data).split(b"\n")
        self._partial = self._partial[: self._longest_partial]
        if lines:
            self._keep([line.decode("utf-8", "replace") for line in lines])

    def line(self, text: str) -> None:
        """One line of ours, or a non-protocol line of stdout."""
        if self._afford(len(text)):
            self._keep([text])
        else:
            self.dropped_bytes += len(text)

    def tail(self, count: int = 10) -> list[str]:
        """The last lines, oldest first, including an unfinished one."""
        unfinished = (self._dropped + self._partial).decode("utf-8", "replace").split("\n")
        return [*self.lines, *(self._cleaned(line) for line in unfinished if line)][-count:]

    def close(self) -> None:
        """Write the unfinished line and close the file."""
        self._resume()
        if self._partial:
            self._keep([self._partial.decode("utf-8", "replace")])
            self._partial = b""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        self._path = None

    def _afford(self, size: int) -> bool:
        now = time.monotonic()
        if now - self._second >= 1:
            self._second, self._spent = now, 0
        self._spent += size
        return self._spent <= BYTES_PER_SECOND

    def _drop(self, data: bytes) -> None:
        """Count it and keep its last complete lines: half a line may hold half a secret."""
        self.dropped_bytes += len(data)
        last, self._partial = self._dropped + self._partial + data, b""
        self._dropped = last if len(last) <= LONGEST_LINE else last[-LONGEST_LINE:].partition(b"\n")[2]

    def _resume(self) -> None:
        """After a flood: note the dropped bytes, and keep the last lines."""
        if self._told == self.dropped_bytes:
            return
        self._told = self.dropped_bytes
        *lines, self._partial = (self._dropped + self._partial).split(b"\n")
        self._dropped = b""
        notice = f"[output too fast: {self.dropped_bytes} bytes dropped so far]"
        self._keep([notice, *(line.decode("utf-8", "replace") for line in lines)])

    def _keep(self, lines: list[str]) -> None:
        cleaned = [self._cleaned(line) for line in lines]
        self.lines.extend(cleaned)
        if self._path is not None:
            with contextlib.suppress(OSError):  # a full disk must not take the server down
                self._write(stamped(cleaned))

    def _cleaned(self, line: str) -> str:
        line = line.rstrip("\r")
        for secret in self._secrets:
            line = line.replace(secret, MASK)
        return line[:LONGEST_LINE]

    def _write(self, data: bytes) -> None:
        if self._descriptor is None:
            self._open()
        if self._size and self._size + len(data) > FILE_SIZE:
            self._rotate()
        assert self._descriptor is not None
        self._size += os.write(self._descriptor, data)

    def _open(self) -> None:
        assert self._path is not None
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._size = os.fstat(self._descriptor).st_size

    def _rotate(self) -> None:
        assert self._path is not None
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        for number in range(KEPT_FILES - 1, 0, -1):
            older = self._numbered(number)
            if older.exists():
                older.replace(self._numbered(number + 1))
        self._path.replace(self._numbered(1))
        self._numbered(KEPT_FILES).unlink(missing_ok=True)
        self._open()

    def _numbered(self, number: int) -> Path:
        assert self._path is not None
        return self._path.with_name(f"{self._path.name}.{number}")


def _to_mask(secrets: Collection[str]) -> list[str]:
    """The texts to mask, longest first; a multi-line secret is masked line by line."""
    texts = {line for secret in secrets for line in secret.splitlines() if len(line) >= 4}
    return sorted(texts, key=len, reverse=True)

"""Explains the end of a process, or a start that takes too long, by its last output."""

from __future__ import annotations

import os
import re
from pathlib import Path

from toolcrib.errors import ConnectionLost, SpawnFailed, StartFailed, ToolcribError

MOST_READ = 16 * 1024
LONGEST_SHOWN_LINE = 500
TELLING = re.compile(r"\b\w*(error|exception|fatal|panic|cannot|denied|refused|not found)\b", re.IGNORECASE)
"""Matches lines that usually explain a failure."""
CANNOT_RUN = {126: "is not executable", 127: "was not found"}


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
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        lines = []
    return StartFailed(f"{message}{_said(lines)}", hint=slow_start_hint(server))


def slow_start_hint(server: str) -> str:
    """The hint for a server that was not ready in time."""
    return f"See `toolcrib logs {server}`; raise timeouts.start if the server is just slow."


def _said(lines: list[str]) -> str:
    words = [line[:LONGEST_SHOWN_LINE] for line in telling_lines(lines)]
    return f" Last output: {' / '.join(words)}" if words else ""


def telling_lines(lines: list[str]) -> list[str]:
    """The last lines that explain a failure, if any (traces often end in braces); else the last lines."""
    spoken = [line.strip() for line in lines if line.strip()]
    telling = [line for line in spoken if TELLING.search(line)]
    return telling[-2:] or spoken[-3:]

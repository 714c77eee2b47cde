"""Explains the end of a process by its exit code and its last output."""

from __future__ import annotations

import re

from toolcrib.errors import ConnectionLost, SpawnFailed, ToolcribError

LONGEST_SHOWN_LINE = 500
TELLING = re.compile(r"\b\w*(error|exception|fatal|panic|cannot|denied|refused|not found)\b", re.IGNORECASE)
"""Matches lines that usually explain a failure."""
CANNOT_RUN = {126: "is not executable", 127: "was not found"}


def exit_error(server: str, code: int | None, last_lines: list[str], *, ran: bool = False) -> ToolcribError:
    """The error for a process that exited; `ran` if it had sent a message before."""
    words = [line[:LONGEST_SHOWN_LINE] for line in telling_lines(last_lines)]
    said = f" Last output: {' / '.join(words)}" if words else ""
    hint = f"See `toolcrib logs {server}`."
    if code in CANNOT_RUN and not ran:
        return SpawnFailed(f"The command of {server} {CANNOT_RUN[code]} (exit code {code}).{said}", hint=hint)
    how = f"was killed by signal {-code}" if code is not None and code < 0 else f"exited with code {code}"
    return ConnectionLost(f"{server} {how}.{said}", hint=hint)


def telling_lines(lines: list[str]) -> list[str]:
    """The last lines that explain a failure, if any (traces often end in braces); else the last lines."""
    spoken = [line.strip() for line in lines if line.strip()]
    telling = [line for line in spoken if TELLING.search(line)]
    return telling[-2:] or spoken[-3:]

"""Lists the tools of one server in a home of its own, through the same commands that a person would type.

Every command has a deadline, after which it and whatever it started is ended.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

INSTALLING = 300.0
"""Seconds that fetching a package and all it needs may take."""
STARTING = 90.0
"""Seconds to the first list of tools; some load a great deal before they answer."""
_REST = 30.0
"""Seconds more for the command itself: to start, and to end its servers."""


_LONGEST = 300


class LeftOut(Exception):
    """This server has no tools to offer here, and why."""


@dataclass(frozen=True)
class _Done:
    ok: bool
    out: str
    reason: str


def listed(home: str, words: Sequence[str]) -> list[dict[str, Any]]:
    """Install what `toolcrib add` is told to, and return what `toolcrib tools` shows. Raises `LeftOut`."""
    # An empty crib: a new home would begin with servers of our own.
    Path(home, "mcp.json").write_text('{"mcpServers": {}}', encoding="utf-8")
    added = _run(home, INSTALLING, "add", "--yes", "--no-test", *words)
    if not added.ok:
        raise LeftOut(f"not installed: {added.reason}")
    shown = _run(home, STARTING, "tools", "--json", "--wait", str(STARTING))
    tools: list[dict[str, Any]] = json.loads(shown.out or "[]") if shown.ok else []
    if not tools:
        raise LeftOut(f"no tools: {shown.reason or 'it lists none'}")
    return tools


def _run(home: str, patience: float, *words: str) -> _Done:
    environment = {**os.environ, "TOOLCRIB_HOME": home, "TOOLCRIB_KEYRING": "off"}
    process = subprocess.Popen(
        [sys.executable, "-m", "toolcrib", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=home,
        start_new_session=True,
    )
    try:
        out, told = process.communicate(timeout=patience + _REST)
    except subprocess.TimeoutExpired:
        _end(process)
        return _Done(ok=False, out="", reason=f"not done within {patience + _REST:.0f} seconds")
    return _Done(ok=process.returncode == 0, out=out, reason=_reason(told))


def _reason(told: str) -> str:
    """What went wrong, of everything that a command said on the way."""
    before, found, after = " ".join(told.split()).rpartition("error: ")
    return after[:_LONGEST] if found else before[-_LONGEST:] or after[-_LONGEST:]


def _end(process: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    # A server that left the group may hold the pipes; they are not waited for.
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.communicate(timeout=5)

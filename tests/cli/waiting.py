"""Waits for something outside this process, under a deadline."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from tests.cli.command_line import DEADLINE

T = TypeVar("T")


def eventually(look: Callable[[], T], deadline: float = DEADLINE) -> T:
    """The first answer that is not empty."""
    until = time.monotonic() + deadline
    while not (found := look()):
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.02)
    return found


def lines_of(file: Path) -> list[str]:
    """The lines of a file that may not be there yet."""
    return file.read_text().splitlines() if file.exists() else []

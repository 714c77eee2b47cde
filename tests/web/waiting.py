"""Waiting for what another process does without telling anybody."""

from __future__ import annotations

import time
from collections.abc import Callable

from tests.web.running import DEADLINE


def until(condition: Callable[[], object], reason: Callable[[], object] = str) -> None:
    """Look again and again; past the deadline, fail and say the reason."""
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline, reason()
        time.sleep(0.02)

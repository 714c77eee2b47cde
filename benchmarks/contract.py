"""What a contender offers, and what it is given.

A module of `benchmarks/contenders/` has

* `TITLE`, its name in the table,
* `SUITE`, `"stdio"` or `"http"`: which small server it talks to,
* `ROLE`, `"floor"` or `"sdk"` for the two that the others are compared with, else `""`,
* `LOOP`, `"asyncio"` or `"uvloop"`,
* `connect(target)`, an async context manager of a `Call`.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

HERE = Path(__file__).parent
Call = Callable[[str, dict[str, Any]], Awaitable[Any]]
"""Calls a tool by its own name and waits for the whole answer, parsed."""
Suite = Literal["stdio", "http"]


@dataclass(frozen=True)
class Target:
    """The small server that everyone calls."""

    url: str = ""
    """Where it listens, in the HTTP suite."""

    @property
    def command(self) -> list[str]:
        """What starts it, in the stdio suite."""
        return [sys.executable, "-I", str(HERE / "tiny_server.py")]


class Contender(Protocol):
    """A module of the folder."""

    TITLE: str
    SUITE: Suite
    ROLE: Literal["floor", "sdk", ""]
    LOOP: Literal["asyncio", "uvloop"]

    def connect(self, target: Target) -> AbstractAsyncContextManager[Call]:
        """Connect; leaving ends everything behind it."""

"""What a peer of the desktop benchmark offers, and how its calls are counted.

A module of `peers/` has

* `TITLE`, its name in the table,
* `install()`, which raises `InstallFailed` with the reason,
* `open(environment)`, an async context manager of a `Connection` to a new process of the peer,
* `SCRIPTS`, by the name of a task: the steps of an agent that uses this peer as well as it can.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from tests.bundled.desktop.tasks.task import Task

HERE = Path(__file__).parent
CHARACTERS_PER_TOKEN = 4
PIXELS_PER_TOKEN = 750
"""As vendors of models count images."""
LIMIT = 60.0
"""Seconds for one task."""
CHECK_LIMIT = 10.0
"""Seconds after it until its outcome is there."""


class Connection(Protocol):
    """Calls one tool of a peer and returns its result as MCP's `tools/call` does."""

    pid: int

    async def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]: ...


@dataclass
class Calls:
    """What an agent sees of a peer, counted."""

    connection: Connection
    count: int = 0
    tokens: float = 0.0

    async def __call__(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        result = await self.connection.call(tool, arguments)
        self.count += 1
        self.tokens += sum(_tokens(block) for block in result["content"])
        return result

    async def text(self, tool: str, **arguments: Any) -> str:
        """The text of a reply; raises `PeerFailed` for an error."""
        result = await self(tool, arguments)
        text = "\n".join(block.get("text", "") for block in result["content"])
        if result.get("isError"):
            raise PeerFailed(f"{tool}: {text[:300]}")
        return text


class PeerFailed(Exception):
    """A call of a peer failed, or it did not find what the script needs."""


Script = Callable[[Calls, Any], Awaitable[None]]
"""Does a task with a peer."""


class Peer(Protocol):
    TITLE: str
    SCRIPTS: Mapping[str, Script]

    def install(self) -> None: ...

    def open(self, environment: Mapping[str, str]) -> AbstractAsyncContextManager[Connection]: ...


def _tokens(block: dict[str, Any]) -> float:
    if block["type"] == "text":
        return len(block["text"]) / CHARACTERS_PER_TOKEN
    width, height = _size(base64.b64decode(block["data"]))
    return width * height / PIXELS_PER_TOKEN


def _size(picture: bytes) -> tuple[int, int]:
    """Of a PNG; others are counted as a whole screen."""
    if not picture.startswith(b"\x89PNG"):
        return 1280, 800
    width, height = struct.unpack(">II", picture[16:24])
    return width, height


__all__ = ["Calls", "Connection", "Peer", "PeerFailed", "Script", "Task"]

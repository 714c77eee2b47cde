"""The seam between a session and a transport: a two-way channel of JSON-RPC messages.

A transport module (`servers/transports/<type>.py`, see `servers/transport.py`) opens it. Leaving the context
closes the channel and ends everything behind it within a bounded time.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from toolcrib.errors import ToolcribError

Message = dict[str, Any]
"""One JSON-RPC message, unchanged from the wire."""

MAX_MESSAGE_BYTES = 256 * 1024 * 1024
"""The largest single message we hold; base64 screenshots and file dumps stay far below it."""


class Link(Protocol):
    """A live channel."""

    @property
    def pid(self) -> int | None:
        """The process behind the channel, where there is one of ours."""

    async def send(self, message: Message) -> None:
        """Hand a message over.

        Returns once the other side can be expected to see it. On request-response transports (HTTP, in
        process) that is when the exchange is over: the reply has then already reached the inbox, and
        cancelling the sender closes the exchange. Raises `ToolcribError` when the message cannot be
        delivered; the channel itself may well live on.
        """


class PromptLink(Link, Protocol):
    """A link that can often hand a message over without waiting; then no task has to be watched for it."""

    def post(self, message: Message) -> bool:
        """Hand the message over at once; False, and nothing happens, where that would mean to wait."""


class Inbox(Protocol):
    """Where a transport puts what it hears. Both methods are plain calls: they never block."""

    def receive(self, message: Message) -> None:
        """One message arrived."""

    def lost(self, error: ToolcribError) -> None:
        """The channel is gone for good and why. Called at most once, never after the context was left."""


@dataclass(frozen=True, kw_only=True)
class LinkContext:
    """What a transport may know about its surroundings."""

    server: str
    log_path: Path | None = None
    """Where a process's stderr goes (rotated); nowhere when unset."""
    installs: Path | None = None
    """Where installers put servers."""
    environment: dict[str, str] = field(default_factory=dict)
    """The variables a process gets besides those of its own entry."""
    on_log: Callable[[str], None] = lambda line: None
    """Called with a line of diagnostics that a remote or in-process transport has to say."""
    on_junk: Callable[[int], None] = lambda count: None
    """Called with the number of lines so far that were no protocol messages."""
    masked: frozenset[str] = frozenset()
    """Values that must never reach a log."""
    marker: str = field(default_factory=lambda: secrets.token_hex(12))
    """What a process and all its descendants carry in their environment, so that they can be found."""
    on_spawn: Callable[[int], None] = lambda group: None
    """Called with the process group as soon as it exists, so that a watchdog can know it."""
    on_exit: Callable[[int], None] = lambda group: None
    """Called when nothing of that process group is left."""
    auth: Any = None
    """An `httpx2.Auth` for remote servers that want a sign-in."""
    max_message_bytes: int = MAX_MESSAGE_BYTES

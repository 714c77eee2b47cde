"""What the tools need of a mailbox, whichever way it is reached: the interface of Gmail and IMAP and its
data. Also the most messages of a thread that are listed, and the remarks about messages deleted meanwhile."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, Self

from toolcrib.bundled.mail.headers import Headers, Mailto
from toolcrib.bundled.mail.outgoing import Outgoing
from toolcrib.bundled.mail.structure import MessagePart
from toolcrib.serverkit.context import ToolFailure

MAX_THREAD = 50
"""Messages of a thread that are listed."""


class MessageGone(ToolFailure):
    """The message, or the part of it, does not exist (any more)."""


def gone_remark(count: int) -> tuple[str, ...]:
    """For messages of a list that did not exist any more when they were read."""
    return (f"{count} more matched, but were deleted or moved during the search.",) if count else ()


@dataclass(frozen=True, kw_only=True)
class MessageSummary:
    """One line of a search result."""

    id: str
    thread: str
    headers: Headers
    received: datetime | None
    size: int
    labels: tuple[str, ...]
    snippet: str
    has_attachments: bool | None
    """None if it is not known without reading the message."""


@dataclass(frozen=True)
class Thread:
    """A conversation, oldest message first."""

    messages: Sequence[MessageSummary]
    remarks: tuple[str, ...] = ()

    @classmethod
    def of(cls, found: Sequence[MessageSummary], *remarks: str) -> Self:
        """The newest of the messages that were found, which are in order."""
        if len(found) <= MAX_THREAD:
            return cls(found, remarks)
        said = f"Of {len(found)} messages of the thread, the newest {MAX_THREAD} are listed."
        return cls(found[-MAX_THREAD:], (said, *remarks))


@dataclass(frozen=True)
class FoundPage:
    messages: Sequence[MessageSummary]
    next_page: str | None
    total: int | None
    """How many match; an estimate, None if unknown."""
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class OpenMessage:
    """A message without the content of its parts."""

    id: str
    thread: str
    headers: Headers
    root: MessagePart
    received: datetime | None
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Sent:
    id: str
    """Empty if the mailbox does not say."""
    thread: str = ""
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Changed:
    """A message after a change; the id differs if it was moved."""

    id: str
    labels: tuple[str, ...] = ()
    error: str = ""


class Mailbox(Protocol):
    @property
    def address(self) -> str:
        """The user's own address."""

    @property
    def sender(self) -> Mailto:
        """The user's name and address, for `From`."""

    async def search(self, query: str, limit: int, page: str | None) -> FoundPage:
        """Messages that match Gmail's query syntax, newest first."""

    async def open(self, message_id: str) -> OpenMessage:
        """Headers and structure; changes nothing, not even "unread"."""

    async def content(self, message: OpenMessage, part: MessagePart, limit: int) -> bytes:
        """A part, decoded, up to `limit` bytes."""

    async def raw(self, message: OpenMessage, limit: int) -> bytes:
        """The whole message as it is stored, up to `limit` bytes."""

    def stream(self, message: OpenMessage, part: MessagePart) -> AsyncIterator[bytes]:
        """A part of any size, decoded."""

    async def thread(self, message: OpenMessage) -> Thread:
        """The conversation as far as it can be found."""

    async def send(self, message: Outgoing, answered: OpenMessage | None) -> Sent:
        """Send to everyone named in To, Cc and Bcc, and keep a copy."""

    async def save_draft(self, message: Outgoing, answered: OpenMessage | None) -> Sent:
        """Store without sending."""

    async def trash(self, message_id: str) -> Changed:
        """Move to the trash."""

    async def unread(self, label: str) -> int:
        """How many messages with this label are unread."""

    async def modify(self, ids: Sequence[str], add: Sequence[str], remove: Sequence[str]) -> list[Changed]:
        """Change labels of messages, in the order of `ids`."""

"""Ids of messages in an IMAP mailbox: where the message is, and its Message-ID to find it once moved."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self
from urllib.parse import quote, unquote

from toolcrib.bundled.mail.mailbox import MessageGone
from toolcrib.serverkit.context import ToolFailure

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_NUMBER = re.compile(r"[0-9]{1,10}")
MAX_LENGTH = 2000


@dataclass(frozen=True)
class ImapId:
    folder: str
    validity: int
    """Changes if the server numbers the folder anew (UIDVALIDITY)."""
    uid: int
    message_id: str = ""
    """With angle brackets; empty if the message has none."""

    def __str__(self) -> str:
        fields = (quote(self.folder, safe=""), str(self.validity), str(self.uid), self._quoted_message_id)
        return ":".join(fields)

    @property
    def _quoted_message_id(self) -> str:
        return quote(_bare(self.message_id), safe="@.$+=!*'()")

    @classmethod
    def read(cls, text: str) -> Self:
        """Raises `ToolFailure` for what is not an id."""
        parts = text.strip().split(":")
        if len(parts) != 4 or len(text) > MAX_LENGTH or not all(map(_NUMBER.fullmatch, parts[1:3])):
            raise not_an_id(text)
        folder, message_id = unquote(parts[0]), unquote(parts[3])
        if not folder or _CONTROL.search(folder + message_id):
            raise not_an_id(text)
        return cls(folder, int(parts[1]), int(parts[2]), f"<{message_id}>" if message_id else "")


def same_message_id(one: str, other: str) -> bool:
    """Whether both mean one message, as far as an id holds them."""
    return _bare(one) == _bare(other)


def _bare(message_id: str) -> str:
    return message_id.strip("<>")[:500]


def not_an_id(text: str) -> ToolFailure:
    return ToolFailure(
        f"{text[:80]!r} is not the id of a message in this account.",
        "Use an id from search_emails, with the same account.",
    )


def gone(text: str) -> MessageGone:
    return MessageGone(
        f"The message {text[:80]!r} no longer exists: it was deleted, or moved to where it cannot be found.",
        "Search for it again with search_emails.",
    )

"""The headers of a message: decoded values, sender, recipients (at most 500 addresses of a field), date, and
the identifiers that link it to its thread."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from email.parser import BytesHeaderParser
from email.policy import compat32
from email.utils import getaddresses, parsedate_to_datetime
from typing import NamedTuple, Self

from toolcrib.bundled.mail.decoding import decode_8bit, decode_words
from toolcrib.serverkit.mail_address import shown_address

MAX_ADDRESSES = 500
_MESSAGE_ID = re.compile(r"<[^<>\s]{1,998}>")


class Mailto(NamedTuple):
    """A name and an address."""

    name: str
    address: str

    def __str__(self) -> str:
        return shown_address(self.name, self.address)


class Headers:
    """Fields in their order; names without regard to case."""

    def __init__(self, fields: Iterable[tuple[str, str]]) -> None:
        self._fields = [(name.lower(), value) for name, value in fields]

    @classmethod
    def read(cls, data: bytes) -> Self:
        """From the bytes before the first empty line."""
        message = BytesHeaderParser(policy=compat32).parsebytes(data.lstrip(b"\r\n"))
        return cls((str(name), decode_8bit(str(value))) for name, value in message.raw_items())

    def raw(self, name: str) -> str:
        """The first value as sent; empty if missing."""
        return next((value for key, value in self._fields if key == name.lower()), "")

    def text(self, name: str) -> str:
        """The first value, decoded."""
        return decode_words(self.raw(name))

    def addresses(self, name: str) -> list[Mailto]:
        """All addresses of all fields of this name."""
        values = [value for key, value in self._fields if key == name.lower()]
        # Split before decoding: a decoded name may contain a comma or an address of its own.
        found = getaddresses([" ".join(value.split()) for value in values])
        return [
            Mailto(decode_words(shown), decode_words(address))
            for shown, address in found[:MAX_ADDRESSES]
            if address
        ]

    @property
    def sender(self) -> str:
        """The first address of `From`, or the text there if it has none."""
        return next(
            (str(sender) for sender in self.addresses("from") if "@" in sender.address), self.text("from")
        )

    @property
    def message_id(self) -> str:
        """With its angle brackets; empty if missing."""
        raw = self.raw("message-id").strip()
        match = _MESSAGE_ID.search(raw)
        return match[0] if match else (f"<{raw}>" if raw and not re.search(r"[\s<>]", raw) else "")

    @property
    def references(self) -> list[str]:
        """The messages before this one in its thread, oldest first."""
        return list(dict.fromkeys(_ids(self.raw("references")) or _ids(self.raw("in-reply-to"))[:1]))

    @property
    def linked(self) -> frozenset[str]:
        """The Message-IDs of this message and of all that it names as earlier ones."""
        named = [*_ids(self.raw("references")), *_ids(self.raw("in-reply-to"))]
        return frozenset(filter(None, [self.message_id, *named]))

    @property
    def sent(self) -> datetime | None:
        """The sender's time; None if missing or invalid."""
        try:
            found = parsedate_to_datetime(self.raw("date").strip())
        except (TypeError, ValueError, IndexError, OverflowError):
            return None
        return found if found.tzinfo else found.replace(tzinfo=UTC)


def _ids(field: str) -> list[str]:
    """Message-IDs; some programs leave out the angle brackets."""
    bare = re.findall(r"[^\s<>,;()\"]+@[^\s<>,;()\"]+", field)
    return _MESSAGE_ID.findall(field) or [f"<{message_id}>" for message_id in bare]

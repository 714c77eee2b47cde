"""A message that is parsed here, for those that the mail server or Gmail cannot take apart."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from email.message import Message
from email.parser import BytesParser
from email.policy import compat32

from toolcrib.bundled.mail.decoding import decode_words
from toolcrib.bundled.mail.mailbox import OpenMessage
from toolcrib.bundled.mail.structure import MAX_DEPTH, MAX_PARTS, Part

_BOUNDARY = re.compile(
    rb"^--([^\r\n]{1,200}?)[ \t]*\r?\n(?=[ \t]*\r?\n|Content-)", re.MULTILINE | re.IGNORECASE
)


@dataclass(frozen=True)
class ParsedMessage:
    """Its parts, and their content by section."""

    root: Part
    contents: dict[str, bytes]

    async def content(self, message: OpenMessage, part: Part, limit: int) -> bytes:
        return self.contents[part.section][:limit]

    async def stream(self, message: OpenMessage, part: Part) -> AsyncIterator[bytes]:
        yield self.contents[part.section]


def parse(raw: bytes) -> ParsedMessage | None:
    """None if nothing can be made of it, such as a message that is nested without end."""
    contents: dict[str, bytes] = {}
    try:
        message = BytesParser(policy=compat32).parsebytes(raw.lstrip(b"\r\n"))
        return ParsedMessage(_part(message, "1", contents, 0), contents)
    except (RecursionError, LookupError, ValueError, TypeError, AttributeError):
        return None


def _part(message: Message, section: str, contents: dict[str, bytes], depth: int) -> Part:
    media_type = message.get_content_type()
    if message.get_content_maintype() == "multipart":
        message = message if message.is_multipart() else _divided(message)
        if message.is_multipart():
            return _multipart(message, media_type, section, contents, depth)
        media_type = "text/html" if b"<html" in _data(message)[:2000].lower() else "text/plain"
    data = contents[section] = _data(message)
    return Part(
        section=section,
        media_type=media_type,
        parameters={"charset": message.get_content_charset("")},
        disposition=message.get_content_disposition() or "",
        name=decode_words(message.get_filename("")),
        size=len(data),
    )


def _multipart(
    message: Message, media_type: str, section: str, contents: dict[str, bytes], depth: int
) -> Part:
    children = []
    for number, child in enumerate(message.get_payload(), 1):
        if depth < MAX_DEPTH and len(contents) < MAX_PARTS and isinstance(child, Message):
            children.append(_part(child, f"{section}.{number}", contents, depth + 1))
    return Part(section, media_type, children=tuple(children))


def _divided(message: Message) -> Message:
    """A multipart whose boundary is missing or wrong, with the boundary that its lines have."""
    body = _data(message)
    found = _BOUNDARY.search(body)
    if found is None:
        return message
    head = b"Content-Type: " + message.get_content_type().encode() + b'; boundary="' + found[1] + b'"\r\n\r\n'
    return BytesParser(policy=compat32).parsebytes(head + body)


def _data(message: Message) -> bytes:
    """The content; of a message in the message, all of it."""
    if message.is_multipart():
        return b"\n".join(child.as_bytes() for child in message.get_payload() if isinstance(child, Message))
    data = message.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""

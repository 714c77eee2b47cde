"""The text of a message as the model reads it, from any kind of content; with a remark if it is not all:
encrypted, Outlook's format, damaged, several senders. Decides the length of one part of a long text and the
most bytes read."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, replace
from email.message import Message
from email.parser import BytesParser
from email.policy import compat32
from typing import Protocol

from toolcrib.bundled.mail.decoding import decode_text, decode_words
from toolcrib.bundled.mail.headers import Headers
from toolcrib.bundled.mail.invitations import invitation_text
from toolcrib.bundled.mail.mailbox import Mailbox, OpenMessage
from toolcrib.bundled.mail.structure import MAX_DEPTH, MAX_PARTS, MessagePart, TextBlock, contents, leaves
from toolcrib.serverkit.html_text import html_to_text
from toolcrib.serverkit.visible_text import visible

_BOUNDARY = re.compile(
    rb"^--([^\r\n]{1,200}?)[ \t]*\r?\n(?=[ \t]*\r?\n|Content-)", re.MULTILINE | re.IGNORECASE
)

MAX_TEXT_BYTES = 4_000_000
"""Encoded bytes of one text, or of a message that is parsed here, that are read."""
PAGE = 20_000
"""Characters of one part of a long text."""
MAX_EMBEDDED = 3
"""Messages in messages whose text is shown."""
SHORT = 2000
"""Characters of a plain text that may only say that there is HTML."""
_ENCRYPTED = {"application/pgp-encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime"}
_TNEF = {"application/ms-tnef", "application/vnd.ms-tnef"}
_HEAD = ("From", "To", "Date", "Subject")


@dataclass(frozen=True)
class ParsedMessage:
    """Its parts, and their content by section."""

    root: MessagePart
    contents: dict[str, bytes]

    async def content(self, message: OpenMessage, part: MessagePart, limit: int) -> bytes:
        return self.contents[part.section][:limit]

    async def stream(self, message: OpenMessage, part: MessagePart) -> AsyncIterator[bytes]:
        yield self.contents[part.section]


def parse(raw: bytes) -> ParsedMessage | None:
    """None if nothing can be made of it, such as a message that is nested without end."""
    contents: dict[str, bytes] = {}
    try:
        message = BytesParser(policy=compat32).parsebytes(raw.lstrip(b"\r\n"))
        return ParsedMessage(_part(message, "1", contents, 0), contents)
    except (RecursionError, LookupError, ValueError, TypeError, AttributeError):
        return None


def _part(message: Message, section: str, contents: dict[str, bytes], depth: int) -> MessagePart:
    media_type = message.get_content_type()
    if message.get_content_maintype() == "multipart":
        message = message if message.is_multipart() else _divided(message)
        if message.is_multipart():
            return _multipart(message, media_type, section, contents, depth)
        media_type = "text/html" if b"<html" in _data(message)[:2000].lower() else "text/plain"
    data = contents[section] = _data(message)
    return MessagePart(
        section=section,
        media_type=media_type,
        parameters={"charset": message.get_content_charset("")},
        disposition=message.get_content_disposition() or "",
        name=decode_words(message.get_filename("")),
        size=len(data),
    )


def _multipart(
    message: Message, media_type: str, section: str, contents: dict[str, bytes], depth: int
) -> MessagePart:
    children = []
    for number, child in enumerate(message.get_payload(), 1):
        if depth < MAX_DEPTH and len(contents) < MAX_PARTS and isinstance(child, Message):
            children.append(_part(child, f"{section}.{number}", contents, depth + 1))
    return MessagePart(section, media_type, children=tuple(children))


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


class PartSource(Protocol):
    """Where the content of parts comes from."""

    async def content(self, message: OpenMessage, part: MessagePart, limit: int) -> bytes: ...

    def stream(self, message: OpenMessage, part: MessagePart) -> AsyncIterator[bytes]: ...


@dataclass(frozen=True)
class ReadMessage:
    text: str
    message: OpenMessage
    source: PartSource
    """Has the parts of `message`."""
    remarks: tuple[str, ...]


async def text_of(mailbox: Mailbox, message: OpenMessage) -> str:
    """All text, HTML as plain text; without text that a mail program would not show."""
    return (await read(mailbox, message)).text


async def read(mailbox: Mailbox, message: OpenMessage) -> ReadMessage:
    """The text, and what could not be shown. A message without text is parsed here if it should have some."""
    found = ReadMessage(await _text(mailbox, message), message, mailbox, ())
    if _is_incomplete(message.root) or not (found.text or contents(message.root).attachments):
        found = await _parsed_here(mailbox, found)
    return replace(found, remarks=(*found.remarks, *_remarks(found)))


def pages(text: str) -> list[str]:
    """A long text in parts, cut at a line or a word."""
    parts = []
    while len(text) > PAGE:
        end = max(text.rfind("\n", PAGE // 2, PAGE), text.rfind(" ", PAGE // 2, PAGE)) + 1 or PAGE
        parts.append(text[:end])
        text = text[end:]
    return [*parts, text]


def _is_incomplete(root: MessagePart) -> bool:
    """Whether a part that should have parts has none."""
    if not root.media_type.startswith("multipart/"):
        return False
    return not any(leaf.size for leaf in leaves(root)) or any(map(_is_incomplete, root.children))


async def _parsed_here(mailbox: Mailbox, found: ReadMessage) -> ReadMessage:
    parsed = parse(await mailbox.raw(found.message, MAX_TEXT_BYTES))
    if parsed is None:
        return found
    message = replace(found.message, root=parsed.root)
    text = await _text(parsed, message)
    if len(text) <= len(found.text):
        return found
    return ReadMessage(text, message, parsed, ("The message is damaged: parts of it may be missing.",))


def _remarks(found: ReadMessage) -> Iterable[str]:
    inside = contents(found.message.root)
    if any(
        leaf.size > MAX_TEXT_BYTES for leaf in leaves(found.message.root) if leaf not in inside.attachments
    ):
        yield f"Only the first {MAX_TEXT_BYTES // 1_000_000} MB of the text were read."
    for part in inside.attachments:
        if part.media_type in _TNEF or part.name.lower() == "winmail.dat":
            yield f"{part.file_name} is in Outlook's format (TNEF), which cannot be read here."
    if not found.text and inside.attachments:
        yield "The message has no text, only attachments."
    elif not found.text:
        size = sum(leaf.size for leaf in leaves(found.message.root))
        kinds = ", ".join(sorted({leaf.media_type for leaf in leaves(found.message.root)}))
        yield (
            f"No text was found in its content ({kinds}, {size} bytes)." if size else "The message is empty."
        )
    senders = found.message.headers.addresses("from")
    if len(senders) > 1:
        yield f"The message names several senders: {', '.join(map(str, senders[:10]))}."


async def _text(source: PartSource, message: OpenMessage, depth: int = 0) -> str:
    found = contents(message.root)
    text = await _joined(source, message, found.texts, depth)
    protected = [part for part in found.attachments if part.media_type in _ENCRYPTED]
    if not text and any(part.parameters.get("smime-type", "").lower() == "signed-data" for part in protected):
        return "(The text is inside an S/MIME signature, which cannot be read here; a mail program shows it.)"
    if not text and protected:
        return "(The message is encrypted; only a mail program with the user's key can read it.)"
    if not text:
        textual = [TextBlock(other=part) for part in found.attachments if part.is_textual]
        text = await _joined(source, message, textual, depth)
    return text


async def _joined(source: PartSource, message: OpenMessage, blocks: Sequence[TextBlock], depth: int) -> str:
    texts = [await _block_text(source, message, block, depth) for block in blocks]
    return "\n\n".join(text for text in texts if text)


async def _block_text(source: PartSource, message: OpenMessage, block: TextBlock, depth: int) -> str:
    if block.other is not None:
        return await _other_text(source, message, block.other, depth)
    plain = await _of_kind(source, message, block, "text/plain")
    if block.html is None or len(plain) > SHORT:
        return plain
    html = await _of_kind(source, message, block, "text/html")
    words, known = [word for word in html.split() if "://" not in word], "".join(plain.split())
    size = sum(map(len, words))
    differs = 2 * sum(len(word) for word in words if word not in known) > size
    says_so = differs and "html" in plain.lower() and 4 * size > len(known)
    if not plain or size > 3 * len(known) or says_so:  # it only says that there is HTML
        return html
    return f"{plain}\n\n{html}" if differs else plain


async def _of_kind(source: PartSource, message: OpenMessage, block: TextBlock, kind: str) -> str:
    parts = [part for part in (block.plain, block.html, *block.rest) if part and part.media_type == kind]
    return "\n\n".join([await _other_text(source, message, part, 0) for part in parts])


async def _other_text(source: PartSource, message: OpenMessage, part: MessagePart, depth: int) -> str:
    if part.media_type in ("message/rfc822", "message/global"):
        return await _embedded(message, await source.content(message, part, MAX_TEXT_BYTES), depth)
    text = await _decoded(source, message, part)
    if part.is_invitation:
        return invitation_text(text)
    return html_to_text(text) if part.media_type == "text/html" else visible(text).strip()


async def _embedded(message: OpenMessage, data: bytes, depth: int) -> str:
    """A message in the message: its headers and text."""
    parsed = parse(data)
    if parsed is None or depth >= MAX_EMBEDDED:
        return ""
    headers = Headers.read(data)
    head = [f"{name}: {headers.text(name)}" for name in _HEAD if headers.raw(name)]
    text = await _text(parsed, replace(message, root=parsed.root, headers=headers), depth + 1)
    return "\n".join(["Attached message", *head, "", text]).strip()


async def _decoded(source: PartSource, message: OpenMessage, part: MessagePart) -> str:
    return decode_text(await source.content(message, part, MAX_TEXT_BYTES), part.charset)

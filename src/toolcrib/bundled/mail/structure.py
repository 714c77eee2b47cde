"""The parts of a message, and which of them are its text and which are attachments. Decides what counts as an
attachment, names of attachments without one, and the most parts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import collapse_rfc2231_value, decode_params, unquote
from typing import Any

from toolcrib.bundled.mail.decoding import decode_words

MAX_PARTS = 500
MAX_DEPTH = 50
_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+-]+")
_EXTENSIONS = {
    "message/rfc822": "message.eml",
    "text/calendar": "invitation.ics",
    "text/plain": "text.txt",
    "text/html": "page.html",
    "application/pdf": "document.pdf",
    "image/jpeg": "image.jpg",
    "image/png": "image.png",
    "image/gif": "image.gif",
}


@dataclass(frozen=True)
class MessagePart:
    section: str
    """How the mailbox names it, such as `1.2`."""
    media_type: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    disposition: str = ""
    name: str = ""
    encoding: str = ""
    """The transfer encoding; empty if the mailbox decodes it."""
    size: int = 0
    """As stored, so larger than the file if it is encoded."""
    handle: str = ""
    """What Gmail calls an attachment id."""
    inline: bytes | None = field(default=None, repr=False)
    """The content, if Gmail sent it with the message."""
    children: tuple[MessagePart, ...] = ()

    @property
    def charset(self) -> str:
        return self.parameters.get("charset", "")

    @property
    def file_size(self) -> int:
        """About the size of the file: base64 makes 4 bytes of 3, and lines of 76."""
        return self.size * 3 * 76 // (4 * 78) if self.encoding == "base64" else self.size

    @property
    def is_invitation(self) -> bool:
        return self.media_type in ("text/calendar", "application/ics") or self.name.lower().endswith(".ics")

    @property
    def is_textual(self) -> bool:
        """Whether it can be shown as text if it must."""
        return self.media_type.startswith(("text/", "message/")) or self.is_invitation

    @property
    def file_name(self) -> str:
        return self.name or _EXTENSIONS.get(self.media_type, "attachment")


@dataclass
class TextBlock:
    """The same text as plain text, as HTML, or both; or a part of another kind that is shown as text."""

    plain: MessagePart | None = None
    html: MessagePart | None = None
    other: MessagePart | None = None
    rest: list[MessagePart] = field(default_factory=list)
    """More plain text or HTML of the same alternative, such as that after a picture."""


@dataclass
class MessageContents:
    texts: list[TextBlock] = field(default_factory=list)
    attachments: list[MessagePart] = field(default_factory=list)


def contents(root: MessagePart) -> MessageContents:
    """What a mail program shows: text in its order, and everything else as attachments.

    Messages in the message, reports and invitations are both.
    """
    found = MessageContents()
    _collect(root, found, None)
    return found


def has_attachments(root: MessagePart) -> bool:
    """Whether a mail program would show a paper clip."""
    return any(
        part.disposition == "attachment" or (part.name and not part.media_type.startswith("image/"))
        for part in contents(root).attachments
    )


def _collect(part: MessagePart, found: MessageContents, block: TextBlock | None) -> None:
    if part.media_type.startswith("multipart/"):
        inner = block
        if part.media_type == "multipart/alternative" and block is None:
            inner = TextBlock()
            found.texts.append(inner)
        for child in part.children:
            _collect(child, found, inner)
        return
    if part.disposition != "attachment" and not part.name and _take_text(part, found, block):
        return
    found.attachments.append(part)
    if part.is_invitation:
        if not any(text.other and text.other.is_invitation for text in found.texts):
            found.texts.append(TextBlock(other=part))  # many invitations have it twice
    elif part.disposition != "attachment" and part.is_textual and block is None:
        found.texts.append(TextBlock(other=part))


def _take_text(part: MessagePart, found: MessageContents, block: TextBlock | None) -> bool:
    kind = {"text/plain": "plain", "text/html": "html"}.get(part.media_type)
    if kind is None:
        return False
    if block is None:
        block = TextBlock()
        found.texts.append(block)
    if getattr(block, kind) is not None:
        block.rest.append(part)
    else:
        setattr(block, kind, part)
    return True


def valid_type(media_type: str) -> str:
    """The type in lower case; `text/plain` for one that is not a type, as RFC 2045 asks."""
    kind = media_type.strip().lower()
    return kind if _TYPE.fullmatch(kind) else "text/plain"


def read_parameters(raw: Sequence[Any] | None) -> dict[str, str]:
    """Parameters from a flat list of names and values, with RFC 2231 and RFC 2047 decoded."""
    texts = [
        item.decode("utf-8", "surrogateescape") if isinstance(item, bytes) else str(item)
        for item in raw or ()
    ]
    pairs = [(name.lower(), value) for name, value in zip(texts[::2], texts[1::2], strict=False)]
    try:
        return {name: _parameter(value) for name, value in decode_params([("", ""), *pairs])[1:]}
    except (ValueError, IndexError):
        return {name: _parameter(value) for name, value in pairs}


def _parameter(value: Any) -> str:
    try:
        text = collapse_rfc2231_value(value) if isinstance(value, tuple) else value
    except (LookupError, UnicodeError):
        text = value[2]
    return decode_words(unquote(str(text)))


def from_body_structure(body: Any) -> MessagePart:
    """The tree from IMAP's `BODYSTRUCTURE`, as IMAPClient parses it."""
    parts = _Counter()
    if isinstance(body[0], list):
        return _multipart(body, "", parts, 0)
    return _single(body, "1", parts)


class _Counter:
    """Stops at a number of parts that no honest message has."""

    def __init__(self) -> None:
        self.count = 0

    def full(self) -> bool:
        self.count += 1
        return self.count > MAX_PARTS


def _multipart(body: Any, section: str, parts: _Counter, depth: int) -> MessagePart:
    children = []
    for number, child in enumerate(body[0], 1):
        if parts.full() or depth > MAX_DEPTH:
            break
        below = f"{section}.{number}" if section else str(number)
        if isinstance(child[0], list):
            children.append(_multipart(child, below, parts, depth + 1))
        else:
            children.append(_single(child, below, parts))
    return MessagePart(section, f"multipart/{_lower(body[1])}", children=tuple(children))


def _single(body: Any, section: str, parts: _Counter) -> MessagePart:
    media_type = valid_type(f"{_lower(body[0])}/{_lower(body[1])}")
    parameters = read_parameters(body[2] if len(body) > 2 and isinstance(body[2], tuple | list) else ())
    extra = 8 if media_type.startswith("text/") else 10 if media_type == "message/rfc822" else 7
    disposition, more = _disposition(body, extra + 1)
    name = more.get("filename") or parameters.get("name", "")
    size = body[6] if len(body) > 6 and isinstance(body[6], int) else 0
    return MessagePart(section, media_type, parameters, disposition, name, _lower(body[5]), size)


def _disposition(body: Any, index: int) -> tuple[str, dict[str, str]]:
    value = body[index] if len(body) > index else None
    if not isinstance(value, tuple | list) or not value:
        return "", {}
    return _lower(value[0]), read_parameters(value[1] if len(value) > 1 and value[1] else ())


def _lower(value: Any) -> str:
    return (value.decode("ascii", "replace") if isinstance(value, bytes) else str(value or "")).lower()


def leaves(part: MessagePart) -> Iterator[MessagePart]:
    """Every part that is not a multipart."""
    if not part.media_type.startswith("multipart/"):
        yield part
    for child in part.children:
        yield from leaves(child)

"""The text of a message as the model reads it, whatever it is made of."""

from __future__ import annotations

from toolcrib.bundled.mail.decoding import decode_text
from toolcrib.bundled.mail.mailbox import Mailbox, OpenMessage
from toolcrib.bundled.mail.structure import Contents, Part, TextBlock, contents
from toolcrib.serverkit.html_text import html_to_text
from toolcrib.serverkit.visible_text import visible

MAX_TEXT_BYTES = 4_000_000
"""Encoded bytes of one text that are read."""
PAGE = 20_000
"""Characters of one part of a long text."""


async def text_of(mailbox: Mailbox, message: OpenMessage) -> str:
    """All text, HTML as plain text; without text that a mail program would not show."""
    blocks = [await _block_text(mailbox, message, block) for block in contents(message.root).texts]
    text = "\n\n".join(block for block in blocks if block)
    return text or _instead_of_text(contents(message.root))


def pages(text: str) -> list[str]:
    """A long text in parts, cut at a line or a word."""
    parts = []
    while len(text) > PAGE:
        end = max(text.rfind("\n", PAGE // 2, PAGE), text.rfind(" ", PAGE // 2, PAGE)) + 1 or PAGE
        parts.append(text[:end])
        text = text[end:]
    return [*parts, text]


async def _block_text(mailbox: Mailbox, message: OpenMessage, block: TextBlock) -> str:
    if block.plain is not None:
        text = visible(await _decoded(mailbox, message, block.plain)).strip()
        if text or block.html is None:
            return text
    return html_to_text(await _decoded(mailbox, message, block.html)) if block.html else ""


async def _decoded(mailbox: Mailbox, message: OpenMessage, part: Part) -> str:
    return decode_text(await mailbox.content(message, part, MAX_TEXT_BYTES), part.charset)


def _instead_of_text(found: Contents) -> str:
    kinds = {part.media_type for part in found.attachments}
    if kinds & {"application/pgp-encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime"}:
        return "(The message is encrypted; only a mail program with the user's key can read it.)"
    return ""

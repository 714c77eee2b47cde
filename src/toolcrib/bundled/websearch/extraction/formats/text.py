"""Plain text and Markdown, unchanged except for characters that cannot be seen."""

from __future__ import annotations

from toolcrib.bundled.websearch.extraction.decoding import decode
from toolcrib.bundled.websearch.extraction.document import Extract, Unreadable, WebDocument
from toolcrib.serverkit.visible_text import visible

MEDIA_TYPES = (
    "text/*",
    "application/javascript",
    "application/x-javascript",
    "application/yaml",
    "application/x-yaml",
    "application/toml",
    "application/x-sh",
    "application/sql",
)


def read(document: WebDocument) -> Extract:
    """The text; raises `Unreadable` for data that only claims to be text."""
    if b"\x00" in document.content[:4096] and not document.content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Unreadable("The file is not text.")
    return Extract(kind="text", text=visible(decode(document.content, document.charset)).strip("\n"))

"""Which format reads a document: by its media type, and by its first bytes where servers are often wrong."""

from __future__ import annotations

import fnmatch
import re
from functools import cache
from typing import Any

from toolcrib import plugins
from toolcrib.bundled.websearch.extraction.document import Extract, Unreadable, WebDocument

FOLDER = "toolcrib.bundled.websearch.extraction.formats"
_UNSURE = ("", "application/octet-stream", "binary/octet-stream", "text/plain", "application/x-download")
_HTML = re.compile(rb"^\s*(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL)
_FEED = re.compile(rb"^\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:rss|feed|rdf:RDF)\b", re.DOTALL)
_HEAD = 2048


def read(document: WebDocument) -> Extract:
    """Extract a document; raises `Unreadable` if no format reads it."""
    return format_for(actual_type(document))(document)  # type: ignore[no-any-return]


def actual_type(document: WebDocument) -> str:
    """The media type to go by."""
    head = document.content[:_HEAD].removeprefix(b"\xef\xbb\xbf")
    if head.startswith(b"%PDF-"):
        return "application/pdf"
    if document.media_type.startswith("image/") or document.media_type not in (
        *_UNSURE,
        "text/xml",
        "application/xml",
    ):
        return _feed_in_html(document.media_type, head)
    if _HTML.match(head):
        return "text/html"
    if _FEED.match(head):
        return "application/rss+xml"
    if document.media_type in ("text/plain", "text/xml", "application/xml"):
        return document.media_type
    return "text/plain" if not document.media_type and _is_text(document.content) else document.media_type


@cache
def format_for(media_type: str) -> Any:
    """The function that reads this type."""
    best: tuple[int, Any] | None = None
    for name in plugins.names(FOLDER):
        module = plugins.find(FOLDER, name)
        for pattern in module.MEDIA_TYPES:
            # The longest pattern that fits is the most specific one.
            if fnmatch.fnmatchcase(media_type, pattern) and (best is None or len(pattern) > best[0]):
                best = len(pattern), module.read
    if best is None:
        raise Unreadable(f"A document of type {media_type or 'unknown'} cannot be read as text.")
    return best[1]


def _feed_in_html(media_type: str, head: bytes) -> str:
    return "application/rss+xml" if media_type == "text/html" and _FEED.match(head) else media_type


def _is_text(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return b"\x00" not in content

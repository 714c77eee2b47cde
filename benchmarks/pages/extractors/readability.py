"""readability-lxml, then markdownify."""

from __future__ import annotations

from markdownify import markdownify
from readability import Document

TITLE = "readability + markdownify"


def extract(html: bytes, url: str) -> str:
    return str(markdownify(Document(html.decode("utf-8", "replace")).summary(), heading_style="ATX"))

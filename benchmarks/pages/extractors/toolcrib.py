"""What `read_website` does with a page."""

from __future__ import annotations

from toolcrib.bundled.websearch.extraction import worker
from toolcrib.bundled.websearch.extraction.document import WebDocument

TITLE = "toolcrib"


def extract(html: bytes, url: str) -> str:
    return worker.read(WebDocument(html, url)).text

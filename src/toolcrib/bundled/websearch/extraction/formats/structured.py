"""JSON: indented, in a code block."""

from __future__ import annotations

import json

from toolcrib.bundled.websearch.extraction.decoding import decode
from toolcrib.bundled.websearch.extraction.document import Extract, WebDocument
from toolcrib.serverkit.visible_text import visible

MEDIA_TYPES = (
    "application/json",
    "application/ld+json",
    "application/feed+json",
    "text/json",
    "application/*+json",
)


def read(document: WebDocument) -> Extract:
    """The JSON, formatted if it can be parsed."""
    text = decode(document.content, document.charset or "utf-8")
    note = ""
    try:
        text = json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        note = "This is not valid JSON; the text is unchanged."
    # A longer fence than any in the text, so that the text cannot end it.
    fence = "`" * max(3, *(len(run) + 1 for run in _runs(text)), 3)
    return Extract(kind="json", text=f"{fence}json\n{visible(text)}\n{fence}", note=note)


def _runs(text: str) -> list[str]:
    return [run for line in text.split("\n") for run in line.split() if set(run) == {"`"}]

"""Trafilatura by itself, as its documentation recommends for Markdown."""

from __future__ import annotations

from trafilatura import extract as trafilatura_extract

TITLE = "trafilatura"


def extract(html: bytes, url: str) -> str:
    found = trafilatura_extract(
        html,
        url=url,
        output_format="markdown",
        include_links=True,
        include_tables=True,
        include_formatting=True,
        favor_recall=True,
    )
    return found or ""

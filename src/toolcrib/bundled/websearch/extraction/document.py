"""What the extraction takes, and what it returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Mode = Literal["article", "full", "raw"]


@dataclass(frozen=True)
class WebDocument:
    """A downloaded document."""

    content: bytes
    url: str
    media_type: str = "text/html"
    charset: str = ""
    """As the response header says; empty if it says nothing."""
    mode: Mode = "article"


@dataclass(frozen=True)
class NumberedLink:
    """A link of the text, by the number that the text shows."""

    number: int
    text: str
    url: str


@dataclass
class Extract:
    """A document as text."""

    kind: str
    """What it was: page, pdf, feed, json or text."""
    text: str
    title: str = ""
    author: str = ""
    published: str = ""
    language: str = ""
    links: list[NumberedLink] = field(default_factory=list)
    needs_browser: bool = False
    """True if the page has almost no text before its scripts run."""
    note: str = ""
    """What is missing from the text, if anything is."""


class Unreadable(Exception):
    """The document cannot be read as what it says it is; the message says why."""

"""What the extraction takes and returns, and its texts and links in clean form: which links are kept, and how
titles and snippets become one line without markup."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from typing import Literal, TypedDict
from urllib.parse import urljoin, urlsplit

from toolcrib.serverkit.visible_text import visible

_LONGEST = 2000
_UNUSABLE = re.compile(r"[\s<>\"`\\{}|^]")

_TAGS = re.compile(r"<!--.*?(?:-->|$)|</?[a-zA-Z][^<>]{0,2000}>", re.DOTALL)
_SPACES = re.compile(r"\s+")

Mode = Literal["article", "full", "raw"]


def listed(words: str) -> frozenset[str]:
    """The words of a list that is written out as one text."""
    return frozenset(words.split())


def web_address(page: str, href: str) -> str:
    """The absolute http(s) address of a link; empty for every other kind."""
    try:
        target = urljoin(page, visible(href).strip())
        parts = urlsplit(target)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.username
    except ValueError:
        return ""
    if not usable or len(target) > _LONGEST:
        return ""
    return _UNUSABLE.sub(
        lambda found: f"%{ord(found.group()):02X}" if found.group().isascii() else "", target
    )


def without_fragment(url: str) -> str:
    """The address of the page itself."""
    return url.partition("#")[0]


def one_line(text: str, limit: int) -> str:
    """Visible text without markup on one line, at most `limit` characters."""
    # Entities are decoded once, before markup is removed, so that they cannot bring in new tags.
    line = _SPACES.sub(" ", visible(_TAGS.sub("", html.unescape(text)))).strip()
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"


@dataclass(frozen=True)
class WebDocument:
    """A downloaded document."""

    content: bytes
    url: str
    media_type: str = "text/html"
    charset: str = ""
    """As the response header says; empty if it says nothing."""
    mode: Mode = "article"


class PageLink(TypedDict):
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
    links: list[PageLink] = field(default_factory=list)
    needs_browser: bool = False
    """True if the page has almost no text before its scripts run."""
    note: str = ""
    """What is missing from the text, if anything is."""


class Unreadable(Exception):
    """The document cannot be read as what it says it is; the message says why."""

"""RSS and Atom feeds: their entries, newest first as the feed has them, with the most entries and longest
summary. Other XML is returned as its text."""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import Any

from toolcrib.bundled.websearch.extraction.document import (
    Extract,
    PageLink,
    Unreadable,
    WebDocument,
    one_line,
    web_address,
)
from toolcrib.bundled.websearch.extraction.hidden import strip_hidden
from toolcrib.bundled.websearch.extraction.rendering import tidy

MEDIA_TYPES = (
    "application/rss+xml",
    "application/atom+xml",
    "application/rdf+xml",
    "application/xml",
    "text/xml",
)
MAX_ENTRIES = 200
_SUMMARY = 1000


def read(document: WebDocument) -> Extract:
    """The feed as a list of entries with numbered links; other XML as its text."""
    root = _parse(document.content)
    entries = [element for element in root.iter() if _name(element) in ("item", "entry")]
    if not entries:
        return Extract(kind="xml", text=tidy("\n".join(_lines(root))))
    links: list[PageLink] = []
    parts = [_entry(entry, document.url, links) for entry in entries[:MAX_ENTRIES]]
    cut = f"The first {MAX_ENTRIES} of {len(entries)} entries." if len(entries) > MAX_ENTRIES else ""
    channel = next((element for element in root.iter() if _name(element) in ("channel", "feed")), root)
    return Extract(
        kind="feed", text="\n\n".join(parts), title=_field(channel, "title", 300), links=links, note=cut
    )


def _parse(content: bytes) -> Any:
    """Entities, document types and external references are not resolved."""
    from lxml.etree import XMLParser, XMLSyntaxError, fromstring

    parser = XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        recover=True,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = fromstring(content, parser)
    except (XMLSyntaxError, ValueError):
        root = None
    if root is None:
        raise Unreadable("The XML cannot be parsed.")
    return root


def _entry(entry: Any, url: str, links: list[PageLink]) -> str:
    title = _field(entry, "title", 300) or "(no title)"
    target = web_address(url, link) if (link := _link(entry).strip()) else ""
    lines = [f"## {title}"]
    if target:
        links.append(PageLink(number=len(links) + 1, text=one_line(title, 80), url=target))
        lines = [f"## [{title}][{len(links)}]"]
    about = [_field(entry, name, 60) for name in ("pubDate", "published", "updated", "date", "creator")]
    lines.append(" · ".join(dict.fromkeys(filter(None, about))))
    summary = next(
        filter(None, (_field(entry, name, _SUMMARY) for name in ("description", "summary", "content"))), ""
    )
    return "\n".join(filter(None, [*lines, summary]))


def _link(entry: Any) -> str:
    for child in entry:
        if _name(child) == "link" and child.get("rel", "alternate") == "alternate":
            return str(child.get("href") or child.text or "")
    return ""


def _field(parent: Any, name: str, limit: int) -> str:
    for child in parent:
        if _name(child) == name and (text := one_line(_shown_text(child), limit)):
            return text
    return ""


def _shown_text(element: Any) -> str:
    """Without what the page inside hides, which is escaped markup (RSS) or consists of elements (Atom)."""
    from lxml.etree import tostring
    from lxml.html import fromstring

    markup = tostring(element, encoding="unicode", with_tail=False) if len(element) else element.text or ""
    if "<" not in markup:
        return str(markup)
    tree = fromstring(f"<div>{markup}</div>")
    strip_hidden(tree)
    return html.escape("".join(tree.itertext()), quote=False)


def _name(element: Any) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _lines(root: Any) -> Iterator[str]:
    for text in root.itertext():
        if text.strip():
            yield " ".join(text.split())

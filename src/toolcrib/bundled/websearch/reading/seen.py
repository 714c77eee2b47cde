"""Remembers which addresses came from search results and links, as opposed to those that the user named."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from urllib.parse import urlsplit, urlunsplit

from toolcrib.bundled.websearch.extraction.addresses import without_fragment

KEPT = 20_000


class SeenAddresses:
    """The newest addresses; the oldest are forgotten."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._seen: OrderedDict[str, None] = OrderedDict()

    def add(self, urls: Iterable[str]) -> None:
        for url in urls:
            page = _page_of(url)
            self._seen[page] = None
            self._seen.move_to_end(page)
        while len(self._seen) > self._kept:
            self._seen.popitem(last=False)

    def __contains__(self, url: str) -> bool:
        return _page_of(url) in self._seen


def _page_of(url: str) -> str:
    """One spelling for an address, so that another one does not make it an address of the user."""
    try:
        parts = urlsplit(without_fragment(url))
        host = parts.netloc.lower().removesuffix({"http": ":80", "https": ":443"}.get(parts.scheme, ""))
    except ValueError:
        return url
    return urlunsplit(parts._replace(netloc=host, path=parts.path or "/"))

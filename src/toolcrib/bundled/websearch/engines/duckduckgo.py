"""DuckDuckGo; needs no key."""

from __future__ import annotations

from toolcrib.bundled.websearch.engines._ddgs import search_with
from toolcrib.bundled.websearch.engines.engine import Hit, SearchQuery
from toolcrib.bundled.websearch.settings import WebSettings

TITLE = "DuckDuckGo"
RANK = 40
INTERVAL = 1.0


def is_configured(settings: WebSettings) -> bool:
    return True


async def search(query: SearchQuery, settings: WebSettings) -> list[Hit]:
    return await search_with("duckduckgo", query)

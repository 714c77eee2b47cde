"""A SearXNG instance of the user's choice, by its JSON API."""

from __future__ import annotations

from urllib.parse import urlencode

from toolcrib.bundled.websearch.engines.engine import (
    EngineFailed,
    Hit,
    SearchQuery,
    entries_of,
    hits_of,
    request_json,
)
from toolcrib.bundled.websearch.settings import WebSettings

TITLE = "SearXNG"
RANK = 10
INTERVAL = 0.0


def is_configured(settings: WebSettings) -> bool:
    return bool(settings.searxng)


async def search(query: SearchQuery, settings: WebSettings) -> list[Hit]:
    fields = {"q": query.with_site, "format": "json", "safesearch": "1"}
    if query.period:
        fields["time_range"] = query.period
    address = f"{settings.searxng.removesuffix('/search')}/search?{urlencode(fields)}"
    try:
        answer = await request_json(address, settings.policy_for(settings.searxng))
    except EngineFailed as error:
        if "(403)" in str(error):
            raise EngineFailed("it refuses JSON; add json to search.formats in its settings.yml") from None
        raise
    found = entries_of(answer, "results")
    if not found and answer.get("unresponsive_engines"):
        raise EngineFailed("none of its engines answered")
    return hits_of(found, "url", "content", "publishedDate")

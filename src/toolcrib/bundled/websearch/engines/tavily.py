"""Tavily, by its API; needs a key."""

from __future__ import annotations

from typing import Any

from toolcrib.bundled.websearch.engines.engine import Hit, SearchQuery, entries_of, hits_of, request_json
from toolcrib.bundled.websearch.settings import WebSettings

TITLE = "Tavily"
RANK = 30
INTERVAL = 0.5
_MOST = 20


def is_configured(settings: WebSettings) -> bool:
    return bool(settings.tavily_key)


async def search(query: SearchQuery, settings: WebSettings) -> list[Hit]:
    body: dict[str, Any] = {"query": query.text, "max_results": min(query.limit, _MOST)}
    if query.site:
        body["include_domains"] = [query.site]
    if query.after:
        body["start_date"] = str(query.after)
    elif query.period:
        body["time_range"] = query.period
    answer = await request_json(
        f"{settings.tavily_url}/search",
        settings.policy_for(settings.tavily_url),
        headers={"Authorization": f"Bearer {settings.tavily_key}"},
        body=body,
    )
    return hits_of(entries_of(answer, "results"), "url", "content", "published_date")

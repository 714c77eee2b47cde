"""Brave Search, by its API; needs a key."""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import urlencode

from toolcrib.bundled.websearch.engines.engine import Hit, SearchQuery, entries_of, hits_of, request_json
from toolcrib.bundled.websearch.settings import WebSettings

TITLE = "Brave"
RANK = 20
INTERVAL = 1.0
"""The free plan allows one request a second."""
_MOST = 20
_PERIODS = {"day": "pd", "week": "pw", "month": "pm", "year": "py"}


def is_configured(settings: WebSettings) -> bool:
    return bool(settings.brave_key)


async def search(query: SearchQuery, settings: WebSettings) -> list[Hit]:
    fields = {"q": query.with_site, "count": str(min(query.limit, _MOST)), "text_decorations": "false"}
    if query.after:
        fields["freshness"] = f"{query.after}to{datetime.now(UTC).date()}"
    elif query.period:
        fields["freshness"] = _PERIODS[query.period]
    answer = await request_json(
        f"{settings.brave_url}/res/v1/web/search?{urlencode(fields)}",
        settings.policy_for(settings.brave_url),
        headers={"X-Subscription-Token": settings.brave_key},
    )
    return hits_of(entries_of(answer, "web", "results"), "url", "description", "page_age", "age")

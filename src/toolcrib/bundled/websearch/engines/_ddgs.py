"""Engines without an API, read through the `ddgs` package, which connects only to the engine's own host:
timeout, and the pause after a rate limit."""

from __future__ import annotations

import asyncio
from typing import Any

from toolcrib.bundled.websearch.engines.engine import EngineFailed, Hit, SearchQuery, hits_of
from toolcrib.serverkit.threads import in_thread

TIMEOUT = 15.0
_RATE_LIMITED = 60.0


async def search_with(backend: str, query: SearchQuery) -> list[Hit]:
    """The results of one of the engines that `ddgs` knows; raises `EngineFailed`."""
    try:
        async with asyncio.timeout(TIMEOUT + 5):
            found = await in_thread(_search, backend, query)
    except TimeoutError:
        raise EngineFailed("it did not answer in time") from None
    return hits_of(found, "href", "body")


def _search(backend: str, query: SearchQuery) -> list[dict[str, Any]]:
    from ddgs import DDGS
    from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException

    limit = query.period[0] if query.period else None
    try:
        return list(
            DDGS(timeout=int(TIMEOUT)).text(
                query.with_site, max_results=query.limit, timelimit=limit, backend=backend
            )
        )
    except RatelimitException:
        raise EngineFailed("its rate limit is reached", retry_after=_RATE_LIMITED) from None
    except TimeoutException:
        raise EngineFailed("it did not answer in time") from None
    except DDGSException as error:
        if "no results" in str(error).lower():
            return []
        raise EngineFailed("it did not answer with results") from None

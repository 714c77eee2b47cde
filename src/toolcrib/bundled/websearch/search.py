"""Searches with one engine after the other until one answers; remembers answers and keeps to rate limits.
Decides the order of engines, how long answers are kept, length of snippets, and the error "No search engine
answered"."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast
from urllib.parse import urlsplit

from toolcrib import plugins
from toolcrib.bundled.websearch.cache import TimedCache
from toolcrib.bundled.websearch.engines.engine import EngineFailed, EngineModule, Hit, SearchQuery
from toolcrib.bundled.websearch.extraction.document import one_line, web_address
from toolcrib.bundled.websearch.settings import ENGINES, WebSettings
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.readiness import Lack

FRESH_FOR = 600.0
KEPT = 200
LONGEST_PAUSE = 5.0
"""Seconds to wait for an engine's turn; if it takes longer, the next engine is asked."""
_TITLE, _SNIPPET = 200, 500


@dataclass(frozen=True)
class SearchHits:
    """Clean results, and how they were found."""

    engine: str
    hits: tuple[Hit, ...]
    skipped: tuple[str, ...]
    """The engines that did not answer, each with the reason."""


@dataclass
class EngineTurn:
    """When an engine may be asked again."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    next_at: float = 0.0
    blocked_until: float = 0.0


class Searcher:
    """All engines that are configured, in order."""

    def __init__(self, settings: WebSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        self._clock = clock
        self._turns: dict[str, EngineTurn] = {}
        self._cache: TimedCache[SearchHits] = TimedCache(FRESH_FOR, KEPT, clock=clock)

    async def search(self, query: SearchQuery) -> SearchHits:
        """The results of the first engine that has some; raises `ToolFailure` if none answers."""
        found = self._cache.get(query)
        if found is None:
            found = await self._ask_all(query)
            if found.hits:
                self._cache.put(query, found)
        return found

    async def _ask_all(self, query: SearchQuery) -> SearchHits:
        skipped: list[str] = []
        answered = ""
        for name, engine in self._engines():
            try:
                hits = clean(await self._ask(name, engine, query), query)
            except EngineFailed as error:
                skipped.append(f"{engine.TITLE}: {error}")
                continue
            if hits:
                return SearchHits(engine.TITLE, hits, tuple(skipped))
            answered = answered or engine.TITLE
            skipped.append(f"{engine.TITLE}: no results")
        if answered:
            return SearchHits(answered, (), tuple(skipped))
        raise ToolFailure(f"No search engine answered. {'; '.join(skipped)}.", _WHAT_TO_DO)

    async def find_lack(self) -> Lack | None:
        """Whether every engine that the user named still needs its key or address."""
        engines = [engine for _, engine in self._engines()]
        if any(engine.is_configured(self._settings) for engine in engines):
            return None
        titles = ", ".join(engine.TITLE for engine in engines)
        return Lack("value", f"The key or address is missing of: {titles}.", _CONFIGURE)

    def _engines(self) -> list[tuple[str, EngineModule]]:
        names = self._settings.engines or plugins.names(ENGINES)
        found = [(name, cast(EngineModule, plugins.find(ENGINES, name))) for name in names]
        if self._settings.engines:
            return found
        configured = [(name, engine) for name, engine in found if engine.is_configured(self._settings)]
        return sorted(configured, key=lambda engine: engine[1].RANK)

    async def _ask(self, name: str, engine: EngineModule, query: SearchQuery) -> list[Hit]:
        if not engine.is_configured(self._settings):
            raise EngineFailed("it is not configured")
        turn = self._turns.setdefault(name, EngineTurn())
        async with turn.lock:
            await self._wait_for_turn(turn, engine)
            try:
                return await engine.search(query, self._settings)
            except EngineFailed as error:
                turn.blocked_until = self._clock() + error.retry_after
                raise

    async def _wait_for_turn(self, turn: EngineTurn, engine: EngineModule) -> None:
        now = self._clock()
        pause = max(turn.next_at, turn.blocked_until) - now
        if pause > LONGEST_PAUSE:
            raise EngineFailed(f"its rate limit is reached for another {round(pause)} s")
        if pause > 0:
            await asyncio.sleep(pause)
        turn.next_at = self._clock() + engine.INTERVAL


_WHAT_TO_DO = (
    "Try again in a minute. The user can add --searxng URL to the entry, "
    "or set BRAVE_API_KEY or TAVILY_API_KEY."
)
_CONFIGURE = "Add it to the entry, or leave out --engines to search with those that need none."


def clean(hits: list[Hit], query: SearchQuery) -> tuple[Hit, ...]:
    """Results as data: http(s) links of the site that was asked for, each once, texts without markup."""
    kept: dict[str, Hit] = {}
    for hit in hits:
        url = web_address("", hit.url)
        if url and url not in kept and _is_of_site(url, query.site):
            title = one_line(hit.title, _TITLE) or url
            kept[url] = Hit(title, url, one_line(hit.snippet, _SNIPPET), one_line(hit.published, 40))
    return tuple(list(kept.values())[: query.limit])


def _is_of_site(url: str, site: str) -> bool:
    if not site:
        return True
    host = (urlsplit(url).hostname or "").lower()
    domain, _, path = site.partition("/")
    return (host == domain or host.endswith(f".{domain}")) and urlsplit(url).path.startswith(f"/{path}")


def read_site(site: str | None) -> str:
    """The domain that a search is limited to; raises `ToolFailure`."""
    given = (site or "").strip().lower()
    given = given.partition("://")[2] or given
    given = given.removeprefix("www.").rstrip("/")
    if given and (
        any(character.isspace() or character in "\"'<>\\" for character in given) or "." not in given
    ):
        raise ToolFailure(f"site={site!r} is not a domain.", "Use a domain such as docs.python.org.")
    return given

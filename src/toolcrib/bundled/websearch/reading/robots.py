"""Asks robots.txt whether a page may be read by a program (RFC 9309); cached for each site."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from toolcrib.bundled.websearch.cache import TimedCache
from toolcrib.errors import FetchFailed
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.network import FetchLimits, NetworkPolicy, fetch

AGENT = "toolcrib"
FRESH_FOR = 3600.0
SITES = 256
LIMITS = FetchLimits(max_bytes=512 * 1024, deadline=10.0)
_HINT = (
    "Use another source. If the user asked for this page, they can add --robots never to the server's entry."
)
_EVERYTHING, _NOTHING = "", "User-agent: *\nDisallow: /\n"


class RobotRules:
    """The rules of the sites that were asked."""

    def __init__(self, policy: NetworkPolicy) -> None:
        self._policy = policy
        self._sites: TimedCache[Any] = TimedCache(FRESH_FOR, SITES)

    async def check(self, url: str) -> None:
        """Raise `ToolFailure` if the site does not want the page to be read by programs."""
        parts = urlsplit(url)
        site = f"{parts.scheme}://{parts.netloc}"
        rules = self._sites.get(site)
        if rules is None:
            rules = await self._load(site)
            self._sites.put(site, rules)
        if not rules.can_fetch(url, AGENT):
            raise ToolFailure(f"robots.txt of {parts.hostname} asks programs not to read this page.", _HINT)

    async def _load(self, site: str) -> Any:
        from protego import Protego

        return Protego.parse(await self._text(site))

    async def _text(self, site: str) -> str:
        """No file means no rules; a server that fails is left alone."""
        try:
            answer = await fetch(
                f"{site}/robots.txt", self._policy, limits=LIMITS, headers={"User-Agent": AGENT}
            )
        except FetchFailed:
            return _EVERYTHING  # the page itself will say what is wrong with the site
        if answer.status >= 500:
            return _NOTHING
        if answer.status >= 300 or answer.media_type == "text/html":
            return _EVERYTHING
        return answer.content.decode("utf-8", "replace")

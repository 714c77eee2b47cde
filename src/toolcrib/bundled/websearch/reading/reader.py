"""From an address to the text of its page."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from toolcrib.bundled.websearch.cache import TimedCache
from toolcrib.bundled.websearch.extraction.addresses import without_fragment
from toolcrib.bundled.websearch.extraction.document import Extract, Mode, WebDocument
from toolcrib.bundled.websearch.extraction.workers import Workers
from toolcrib.bundled.websearch.reading import browser
from toolcrib.bundled.websearch.reading.headers import request_headers
from toolcrib.bundled.websearch.reading.parts import split
from toolcrib.bundled.websearch.reading.robots import RobotRules
from toolcrib.bundled.websearch.reading.seen import SeenAddresses
from toolcrib.bundled.websearch.settings import WebSettings
from toolcrib.serverkit.context import ToolContext, ToolFailure
from toolcrib.serverkit.network import Fetched, FetchLimits, fetch

FRESH_FOR = 600.0
KEPT = 50
KEPT_CHARACTERS = 20_000_000
READABLE = ("text/*", "application/*", "binary/octet-stream", "")
_REFUSING = (401, 403, 405, 406, 429, 451, 503)
_BROWSER_HINT = (
    "It needs a browser: its text is made by scripts. The user can install one for this server with "
    "pip install 'toolcrib[browser]' and Chromium. Otherwise use another source."
)


@dataclass(frozen=True)
class LoadedPage:
    """A page that was read."""

    url: str
    extract: Extract
    parts: tuple[str, ...]
    redirected_from: str = ""
    rendered: bool = False
    size: int = field(default=0)


class Reader:
    """Reads pages and remembers them for a while, so that their parts are of one version."""

    def __init__(self, settings: WebSettings, seen: SeenAddresses) -> None:
        self._settings = settings
        self._seen = seen
        self._robots = RobotRules(settings.policy)
        self._limits = FetchLimits(max_bytes=settings.max_bytes, media_types=READABLE)
        self._pages: TimedCache[LoadedPage] = TimedCache(
            FRESH_FOR, KEPT, size=KEPT_CHARACTERS, size_of=lambda page: page.size
        )
        self._workers = Workers()

    def close(self) -> None:
        """End the processes behind it."""
        self._workers.close()

    async def read(self, url: str, mode: Mode, context: ToolContext) -> LoadedPage:
        """The page; raises `ToolFailure`, `NetworkRefused` or `FetchFailed`."""
        key = without_fragment(url), mode
        page = self._pages.get(key)
        if page is None:
            page = await self._load(url, mode, context)
            self._pages.put(key, page)
        self._seen.add(link.url for link in page.extract.links)
        return page

    async def _load(self, url: str, mode: Mode, context: ToolContext) -> LoadedPage:
        asks = self._settings.robots == "always" or (self._settings.robots == "auto" and url in self._seen)
        if asks:
            await self._robots.check(url)
        context.progress(1, 3, "Downloading")
        headers = request_headers(self._settings.stealth)
        fetched = await fetch(url, self._settings.policy, limits=self._limits, headers=headers)
        if asks and fetched.redirects:
            await self._robots.check(fetched.url)
        if fetched.status >= 400:
            if not (self._settings.stealth and fetched.status in _REFUSING and browser.is_available()):
                raise _refusal(fetched, self._settings.stealth)
            return await self._rendered(fetched, mode, context, headers)
        context.progress(2, 3, "Reading")
        extract = await self._workers.extract(_document(fetched, mode))
        if not extract.needs_browser:
            return _page(fetched, extract)
        if browser.is_available():
            return await self._rendered(fetched, mode, context, headers)
        return _page(fetched, replace(extract, note=f"{extract.note} {_BROWSER_HINT}".strip()))

    async def _rendered(
        self, fetched: Fetched, mode: Mode, context: ToolContext, headers: dict[str, str]
    ) -> LoadedPage:
        context.progress(2.5, 3, "Rendering in a browser")
        sent = headers if self._settings.stealth else {}
        html = await browser.render(fetched.url, self._settings.policy, self._limits, sent)
        extract = await self._workers.extract(WebDocument(html, fetched.url, "text/html", "utf-8", mode))
        if fetched.status >= 400 and len(extract.text) < 200:
            raise _refusal(fetched, stealth=True)
        return _page(fetched, replace(extract, needs_browser=False), rendered=True)


def _document(fetched: Fetched, mode: Mode) -> WebDocument:
    return WebDocument(fetched.content, fetched.url, fetched.media_type, fetched.charset or "", mode)


def _page(fetched: Fetched, extract: Extract, *, rendered: bool = False) -> LoadedPage:
    parts = tuple(split(extract.text)) or ("",)
    origin = fetched.redirects[0] if fetched.redirects else ""
    return LoadedPage(fetched.url, extract, parts, origin, rendered, len(extract.text))


def _refusal(fetched: Fetched, stealth: bool) -> ToolFailure:
    status = fetched.status
    what = f"{fetched.url} answered with status {status}"
    if status in (404, 410):
        return ToolFailure(f"{what}: there is no such page.", "Check the address, or search for the page.")
    if status == 401:
        return ToolFailure(f"{what}: it needs a sign-in, which this tool does not do.", "Use another source.")
    if status in (429, 503):
        return ToolFailure(f"{what}: it is overloaded or limits requests.", _later(fetched))
    if status >= 500:
        return ToolFailure(f"{what}: the site failed.", "Try again later, or use another source.")
    hint = (
        "Use another source."
        if stealth
        else "Use another source. The user can add --stealth to the server's entry."
    )
    return ToolFailure(f"{what}: it refuses programs, or its text is not public.", hint)


def _later(fetched: Fetched) -> str:
    seconds = fetched.headers.get("retry-after", "")
    if not seconds.isdigit():
        return "Try again later."
    wait = int(seconds)
    return f"Try again in {wait} s." if wait < 120 else f"Try again in {math.ceil(wait / 60)} minutes."

"""From an address to the text of its page in parts, with the headers and robots.txt rules of the request.
Decides length of a part, user agent, when Chromium renders a page, how long pages are kept, errors such as
"needs a sign-in".

Pages whose text is made by scripts are rendered in Chromium; every request of such a page goes through the
network guard, none directly. That needs the extra `browser` (Playwright) and an installed Chromium or Chrome.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import math
import os
import random
import re
import shutil
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from toolcrib.bundled.websearch.cache import TimedCache
from toolcrib.bundled.websearch.extraction.document import Extract, Mode, WebDocument, without_fragment
from toolcrib.bundled.websearch.extraction.workers import ExtractionWorkers
from toolcrib.bundled.websearch.settings import WebSettings
from toolcrib.errors import FetchFailed, ToolcribError
from toolcrib.serverkit import network
from toolcrib.serverkit.context import ToolContext, ToolFailure
from toolcrib.serverkit.network import FetchLimits, NetworkPolicy
from toolcrib.serverkit.network.limits import load_client

if TYPE_CHECKING:
    from toolcrib.serverkit.network import Fetched
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
BROWSER_DEADLINE = 45.0
SETTLE = 10.0
"""Seconds for the page to stop loading; what is there then is read."""
MAX_REQUESTS = 200
_NEEDED = frozenset(("document", "script", "xhr", "fetch", "stylesheet"))
# Whatever is not answered by our handler fails: no name resolves, and the only proxy does not exist.
_ARGUMENTS = (
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-features=WebRtcHideLocalIpsWithMdns,AsyncDns",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-dev-shm-usage",
)
_DEAD_PROXY: Any = {"server": "http://127.0.0.1:1", "bypass": "<-loopback>"}
_DROPPED = frozenset(("content-encoding", "content-length", "transfer-encoding", "connection", "set-cookie"))

ADDRESSES_KEPT = 20_000

AGENT = "toolcrib"
ROBOTS_FRESH_FOR = 3600.0
SITES = 256
LIMITS = FetchLimits(max_bytes=512 * 1024, deadline=10.0)
_HINT = (
    "Use another source. If the user asked for this page, they can add --robots never to the server's entry."
)
_EVERYTHING, _NOTHING = "", "User-agent: *\nDisallow: /\n"

PART = 14_000
"""Characters: with its links a part stays below what hosts show to a model by default."""
_FENCE = re.compile(r"^\s{0,12}(`{3,}|~{3,})(.*)$")

PLAIN: Mapping[str, str] = {
    "User-Agent": "Mozilla/5.0 (compatible; toolcrib)",
    "Accept": "text/html,application/xhtml+xml,text/markdown;q=0.9,application/pdf;q=0.8,*/*;q=0.5",
    "Accept-Language": "en;q=0.9,*;q=0.5",
}
_SYSTEMS = (
    ("Windows NT 10.0; Win64; x64", "Windows"),
    ("Macintosh; Intel Mac OS X 10_15_7", "macOS"),
    ("X11; Linux x86_64", "Linux"),
)
_CHROME = (138, 139, 140, 141, 142)
_FIREFOX = (141, 142, 143, 144)
_ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"

FRESH_FOR = 600.0
KEPT = 50
KEPT_CHARACTERS = 20_000_000
READABLE = ("text/*", "application/*", "binary/octet-stream", "")
_REFUSING = (401, 403, 405, 406, 429, 451, 503)
_BROWSER_HINT = (
    "It needs a browser: its text is made by scripts. The user can install one for this server with "
    "pip install 'toolcrib[browser]' and Chromium. Otherwise use another source."
)


def has_browser() -> bool:
    """True if pages can be rendered here."""
    return importlib.util.find_spec("playwright") is not None and browser_program() is not None


def browser_program() -> str | None:
    """The browser to use."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


@dataclass
class GuardedRequests:
    """Answers the requests of a page."""

    policy: NetworkPolicy
    limits: FetchLimits
    headers: Mapping[str, str] = field(default_factory=dict)
    count: int = 0
    last_status: int = 0

    async def answer(self, route: Any) -> None:
        """Fetch what the page asks for, if it matters for its text."""
        request = route.request
        self.count += 1
        if request.resource_type not in _NEEDED or self.count > MAX_REQUESTS:
            await route.abort()
            return
        try:
            fetched = await self._fetch(request)
        except ToolcribError:
            await route.abort()
            return
        if request.is_navigation_request():
            self.last_status = fetched.status
        kept = {name: value for name, value in fetched.headers.items() if name.lower() not in _DROPPED}
        await route.fulfill(status=fetched.status, headers=kept, body=fetched.content)

    async def _fetch(self, request: Any) -> Fetched:
        wanted = ("accept", "content-type", "referer", "user-agent", "accept-language")
        given = {name: value for name, value in request.headers.items() if name.lower() in wanted}
        body = request.post_data_buffer
        return await network.fetch(
            request.url,
            self.policy,
            limits=self.limits,
            headers={**given, **self.headers},
            method=request.method,
            content=body,
        )


async def render_in_browser(
    url: str, policy: NetworkPolicy, limits: FetchLimits, headers: Mapping[str, str]
) -> bytes:
    """The page's HTML after its scripts have run; raises `ToolFailure`."""
    from playwright.async_api import Error, async_playwright

    requests = GuardedRequests(policy, limits, headers)
    try:
        async with asyncio.timeout(BROWSER_DEADLINE), async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path=browser_program(),
                args=list(_ARGUMENTS),
                proxy=_DEAD_PROXY,
                chromium_sandbox=_can_sandbox(),
            )
            try:
                return await _rendered_html(browser, url, requests)
            finally:
                await browser.close()
    except (Error, TimeoutError) as error:
        reason = "it took too long" if isinstance(error, TimeoutError) else type(error).__name__
        raise ToolFailure(
            f"The page could not be rendered in a browser: {reason}.", "Try another source."
        ) from None


async def _rendered_html(browser: Any, url: str, requests: GuardedRequests) -> bytes:
    from playwright.async_api import TimeoutError as BrowserTimeout

    agent = requests.headers.get("User-Agent")
    context = await browser.new_context(
        service_workers="block", accept_downloads=False, **({"user_agent": agent} if agent else {})
    )
    await context.route("**/*", requests.answer)
    await context.route_web_socket("**/*", lambda socket: socket.close())
    page = await context.new_page()
    await page.goto(url, wait_until="domcontentloaded", timeout=BROWSER_DEADLINE * 1000)
    with contextlib.suppress(BrowserTimeout):
        await page.wait_for_load_state("networkidle", timeout=SETTLE * 1000)
    content = await page.content()
    return str(content).encode("utf-8", "replace")


def _can_sandbox() -> bool:
    """Chromium cannot sandbox itself as root, as in most containers."""
    return os.geteuid() != 0 if hasattr(os, "geteuid") else True


class SeenAddresses:
    """The newest addresses; the oldest are forgotten."""

    def __init__(self, kept: int = ADDRESSES_KEPT) -> None:
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


class RobotRules:
    """The rules of the sites that were asked."""

    def __init__(self, policy: NetworkPolicy) -> None:
        self._policy = policy
        self._sites: TimedCache[Any] = TimedCache(ROBOTS_FRESH_FOR, SITES)

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
            answer = await network.fetch(
                f"{site}/robots.txt", self._policy, limits=LIMITS, headers={"User-Agent": AGENT}
            )
        except FetchFailed:
            return _EVERYTHING  # the page itself will say what is wrong with the site
        if answer.status >= 500:
            return _NOTHING
        if answer.status >= 300 or answer.media_type == "text/html":
            return _EVERYTHING
        return answer.content.decode("utf-8", "replace")


def split(text: str, size: int = PART) -> list[str]:
    """The parts of a text; joined, they have all of its lines."""
    if len(text) <= size:
        return [text]
    parts: list[str] = []
    lines: list[str] = []
    length, opened, good = 0, "", 0
    for line in _short_lines(text, size // 2):
        if length + len(line) + 1 > size and lines:
            cut = good if good * 2 > len(lines) else len(lines)
            rest = lines[cut:]
            parts.append(_closed(lines[:cut], opened if cut == len(lines) else ""))
            lines = [opened, *rest] if opened and cut == len(lines) else rest
            length, good = sum(len(line) + 1 for line in lines), 0
        lines.append(line)
        length += len(line) + 1
        opened = _fence_after(line, opened)
        if not line.strip() and not opened:
            good = len(lines)
    return [part for part in (*parts, _closed(lines, "")) if part.strip()]


def _closed(lines: list[str], opened: str) -> str:
    fence = _FENCE.match(opened) if opened else None
    return "\n".join([*lines, fence.group(1)] if fence else lines).strip("\n")


def _fence_after(line: str, opened: str) -> str:
    """The line that opened the code block which is open after this line; empty if none is."""
    found = _FENCE.match(line)
    if found is None:
        return opened
    if not opened:
        return line
    fence = _FENCE.match(opened)
    ends = fence is not None and found.group(1).startswith(fence.group(1)) and not found.group(2).strip()
    return "" if ends else opened


def _short_lines(text: str, size: int) -> Iterator[str]:
    for line in text.split("\n"):
        while len(line) > size:
            # At the last space, so that no word is cut.
            cut = line.rfind(" ", size // 2, size) + 1 or size
            yield line[:cut].rstrip()
            line = line[cut:]
        yield line


def request_headers(stealth: bool) -> dict[str, str]:
    """The headers to send; those of a browser change from one call to the next."""
    return _browser_like() if stealth else dict(PLAIN)


def _browser_like() -> dict[str, str]:
    system, platform = random.choice(_SYSTEMS)  # noqa: S311 - not a secret
    headers = {
        "Accept": _ACCEPT,
        "Accept-Language": "en-US,en;q=0.9",
        "Upgrade-Insecure-Requests": "1",
        "Sec-Fetch-Dest": "document",
        "Sec-Fetch-Mode": "navigate",
        "Sec-Fetch-Site": "none",
        "Sec-Fetch-User": "?1",
    }
    if random.random() < 0.3:  # noqa: S311
        version = random.choice(_FIREFOX)  # noqa: S311
        return {
            **headers,
            "User-Agent": f"Mozilla/5.0 ({system}; rv:{version}.0) Gecko/20100101 Firefox/{version}.0",
        }
    version = random.choice(_CHROME)  # noqa: S311
    agent = (
        f"Mozilla/5.0 ({system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{version}.0.0.0 Safari/537.36"
    )
    brands = f'"Chromium";v="{version}", "Google Chrome";v="{version}", "Not?A_Brand";v="24"'
    hints = {"Sec-CH-UA": brands, "Sec-CH-UA-Mobile": "?0", "Sec-CH-UA-Platform": f'"{platform}"'}
    return {**headers, "User-Agent": agent, **hints}


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
        self._workers = ExtractionWorkers()

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
        self._seen.add(link["url"] for link in page.extract.links)
        return page

    async def _load(self, url: str, mode: Mode, context: ToolContext) -> LoadedPage:
        await load_client()
        asks = self._settings.robots == "always" or (self._settings.robots == "auto" and url in self._seen)
        if asks:
            await self._robots.check(url)
        context.progress(1, 3, "Downloading")
        headers = request_headers(self._settings.stealth)
        fetched = await network.fetch(url, self._settings.policy, limits=self._limits, headers=headers)
        if asks and fetched.redirects:
            await self._robots.check(fetched.url)
        if fetched.status >= 400:
            if not (self._settings.stealth and fetched.status in _REFUSING and has_browser()):
                raise _refusal(fetched, self._settings.stealth)
            return await self._rendered(fetched, mode, context, headers)
        context.progress(2, 3, "Reading")
        extract = await self._workers.extract(_document(fetched, mode))
        if not extract.needs_browser:
            return _page(fetched, extract)
        if has_browser():
            return await self._rendered(fetched, mode, context, headers)
        return _page(fetched, replace(extract, note=f"{extract.note} {_BROWSER_HINT}".strip()))

    async def _rendered(
        self, fetched: Fetched, mode: Mode, context: ToolContext, headers: dict[str, str]
    ) -> LoadedPage:
        context.progress(2.5, 3, "Rendering in a browser")
        sent = headers if self._settings.stealth else {}
        html = await render_in_browser(fetched.url, self._settings.policy, self._limits, sent)
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

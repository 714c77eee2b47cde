"""Renders a page in Chromium; every request of the page goes through the network guard, none directly.

Needs the extra `browser` (Playwright) and an installed Chromium or Chrome.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from toolcrib.errors import ToolcribError
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.network import Fetched, FetchLimits, NetworkPolicy, fetch

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
DEADLINE = 45.0
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


def is_available() -> bool:
    """True if pages can be rendered here."""
    return importlib.util.find_spec("playwright") is not None and program() is not None


def program() -> str | None:
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
        return await fetch(
            request.url,
            self.policy,
            limits=self.limits,
            headers={**given, **self.headers},
            method=request.method,
            content=body,
        )


async def render(url: str, policy: NetworkPolicy, limits: FetchLimits, headers: Mapping[str, str]) -> bytes:
    """The page's HTML after its scripts have run; raises `ToolFailure`."""
    from playwright.async_api import Error, async_playwright

    requests = GuardedRequests(policy, limits, headers)
    try:
        async with asyncio.timeout(DEADLINE), async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path=program(),
                args=list(_ARGUMENTS),
                proxy=_DEAD_PROXY,
                chromium_sandbox=_can_sandbox(),
            )
            try:
                return await _read(browser, url, requests)
            finally:
                await browser.close()
    except (Error, TimeoutError) as error:
        reason = "it took too long" if isinstance(error, TimeoutError) else type(error).__name__
        raise ToolFailure(
            f"The page could not be rendered in a browser: {reason}.", "Try another source."
        ) from None


async def _read(browser: Any, url: str, requests: GuardedRequests) -> bytes:
    from playwright.async_api import TimeoutError as BrowserTimeout

    agent = requests.headers.get("User-Agent")
    context = await browser.new_context(
        service_workers="block", accept_downloads=False, **({"user_agent": agent} if agent else {})
    )
    await context.route("**/*", requests.answer)
    await context.route_web_socket("**/*", lambda socket: socket.close())
    page = await context.new_page()
    await page.goto(url, wait_until="domcontentloaded", timeout=DEADLINE * 1000)
    with contextlib.suppress(BrowserTimeout):
        await page.wait_for_load_state("networkidle", timeout=SETTLE * 1000)
    content = await page.content()
    return str(content).encode("utf-8", "replace")


def _can_sandbox() -> bool:
    """Chromium cannot sandbox itself as root, as in most containers."""
    import os

    return os.geteuid() != 0 if hasattr(os, "geteuid") else True

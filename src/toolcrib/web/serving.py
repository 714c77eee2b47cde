"""Serves the page and the gateway on one loopback address while a block runs: the default port, how many
further ports are tried, and the sign-in address."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from toolcrib.errors import UsageError
from toolcrib.gateway.http.server import serve_http
from toolcrib.host import Host
from toolcrib.web.access import PageAccess
from toolcrib.web.bridge import AsgiApplication, AsgiBridge
from toolcrib.web.event_hub import Hub

STATIC = Path(__file__).with_name("static")
DOCS = Path(__file__).with_name("static_docs")
PORT = 4180
ATTEMPTS = 50
"""Ports to try, from the default port on."""


@dataclass(frozen=True, kw_only=True)
class Served:
    """The served page."""

    base: str
    """Its address, `http://127.0.0.1:4180`."""
    host: Host

    def sign_in_address(self) -> str:
        """A new one-time sign-in address."""
        return sign_in_address(self.host, self.base)


def sign_in_address(host: Host, base: str) -> str:
    """A one-time sign-in address; the token is in the fragment, which browsers never send."""
    return f"{base}/#key={host.pages.invite()}"


@asynccontextmanager
async def serve_page(
    host: Host, *, port: int | None = None, static: Path = STATIC, docs: Path = DOCS
) -> AsyncIterator[Served]:
    """Serve the gateway and the page; without `port`, on the default port or the next free one."""
    hub = Hub(host)
    access = PageAccess(host.pages)

    def make() -> AsgiApplication:
        # Imported on the first request: the framework takes a while to load.
        from toolcrib.web.application import make_application

        if not host.lent:
            host.open_workspace_tools()  # its chats have them, so they are counted from the beginning
        return make_application(host, access, hub, static, docs)

    host.pages.on_revoked = hub.wake
    bridge = AsgiBridge(make, access.check_head, hub.close)
    async with hub.following(), _listening(host, bridge, port) as base:
        host.pages.address = base
        try:
            yield Served(base=base, host=host)
        finally:
            host.pages.address = None


@asynccontextmanager
async def _listening(host: Host, bridge: AsgiBridge, port: int | None) -> AsyncIterator[str]:
    async with AsyncExitStack() as stack:
        for candidate in range(PORT, PORT + ATTEMPTS) if port is None else ():
            with suppress(UsageError, OSError):
                base, _ = await stack.enter_async_context(serve_http(host, port=candidate, fallback=bridge))
                break
        else:
            base, _ = await stack.enter_async_context(serve_http(host, port=port or 0, fallback=bridge))
        yield base

"""Serves the page beside the gateway, on one address of this machine, for as long as a block lasts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from toolcrib.errors import UsageError
from toolcrib.gateway.http.serving import serve_http
from toolcrib.host import Host
from toolcrib.web.access import Door
from toolcrib.web.bridge import AsgiApplication, AsgiBeside
from toolcrib.web.event_hub import Hub

STATIC = Path(__file__).with_name("static")
PORT = 4180
TRIES = 50
"""Ports that are tried after the usual one."""


@dataclass(frozen=True, kw_only=True)
class Served:
    """Where the page is."""

    base: str
    """Its address, `http://127.0.0.1:4180`."""
    host: Host

    def sign_in_address(self) -> str:
        """A new address that lets one page in, once."""
        return sign_in_address(self.host, self.base)


def sign_in_address(host: Host, base: str) -> str:
    """Where a browser is sent: the token stands behind a `#`, which is sent to nobody."""
    return f"{base}/#key={host.pages.invite()}"


@asynccontextmanager
async def serve_page(host: Host, *, port: int | None = None, static: Path = STATIC) -> AsyncIterator[Served]:
    """The gateway and the page; without a port the usual one, or the next that is free."""
    hub = Hub(host)
    door = Door(host.pages)

    def make() -> AsgiApplication:
        # Not before somebody looks: the framework takes a while to load.
        from toolcrib.web.application import make_application

        return make_application(host, door, hub, static)

    host.pages.on_revoked = hub.wake
    beside = AsgiBeside(make, door, hub.close)
    async with hub.following(), _listening(host, beside, port) as base:
        host.pages.address = base
        try:
            yield Served(base=base, host=host)
        finally:
            host.pages.address = None


@asynccontextmanager
async def _listening(host: Host, beside: AsgiBeside, port: int | None) -> AsyncIterator[str]:
    async with AsyncExitStack() as stack:
        for candidate in range(PORT, PORT + TRIES) if port is None else ():
            with suppress(UsageError, OSError):
                base, _ = await stack.enter_async_context(serve_http(host, port=candidate, beside=beside))
                break
        else:
            base, _ = await stack.enter_async_context(serve_http(host, port=port or 0, beside=beside))
        yield base

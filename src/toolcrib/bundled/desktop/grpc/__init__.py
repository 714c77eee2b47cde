"""The desktop over gRPC, as the service `macosusesdk.v1.MacosUse`: `serve` runs it, with the packages of the
extra `desktop-grpc`, which are installed when first used.

`proto` has the wire format, `methods` one module for each group of RPCs, `server` listens. The packages of
the extra `desktop-grpc` are installed when a server or a client is first used.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path

from toolcrib.bundled.desktop.grpc.options import ServeOptions, ensure_token, token_file
from toolcrib.serverkit.context import ToolContext
from toolcrib.serverkit.extras import ensure

__all__ = ["EXTRA", "ServeOptions", "serve", "token_file"]

EXTRA = "desktop-grpc"


async def serve(
    options: ServeOptions,
    home: Path | None,
    ready: Callable[[str], None],
    ended: Callable[[], Awaitable[None]],
    context: ToolContext | None = None,
) -> None:
    """Serve the desktop until `ended` returns; `ready` is called with the address."""
    await ensure(EXTRA, context)
    from toolcrib.bundled.desktop.backends.remote.target import CHOOSING
    from toolcrib.bundled.desktop.grpc.server import serving
    from toolcrib.bundled.desktop.session import DesktopSession, SessionSettings

    for name in CHOOSING:
        os.environ.pop(name, None)  # the desktop of this machine; never another server, or this one
    token = ensure_token(token_file(home)) if options.needs_token else None
    session = DesktopSession(SessionSettings(headless=options.headless, home=home, scripts=options.scripts))
    try:
        async with serving(session, options, token) as address:
            await session.backend(context)
            ready(address)
            await ended()
    finally:
        session.close()

"""Runs the gateway in the foreground, over HTTP or for the one client that started us."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolcrib.cli.event_loop import loop_factory
from toolcrib.cli.host_log import keep_log
from toolcrib.cli.shutdown import Ending, heeding
from toolcrib.cli.surface import Surface
from toolcrib.config.profiles import unknown_profile
from toolcrib.config.settings import Settings
from toolcrib.gateway.bridge import bridge_handlers
from toolcrib.gateway.offer import offer_all, offer_one
from toolcrib.gateway.profile import Profile
from toolcrib.host import open_host
from toolcrib.loading import preload

if TYPE_CHECKING:
    from toolcrib.gateway.http.views import Views


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where the gateway is reached over HTTP."""

    host: str = "127.0.0.1"
    port: int = 0
    allowed_hosts: tuple[str, ...] = ()


def serve_gateway(surface: Surface, profile: Profile, place: Place | None) -> int:
    """Until a signal, or the end of the client, ends it; over stdio where there is no place."""
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(_over_stdio(surface, profile) if place is None else _over_http(surface, profile, place))
    return 0


def _is_one_view(asked: Profile) -> bool:
    """True when a part of the crib was asked for; the others are then not served beside it."""
    return bool(asked.name or asked.servers or asked.tools or asked.read_only)


def _check_profile(settings: Settings, name: str) -> None:
    if name and name not in settings.profiles:
        raise unknown_profile(name, settings.profiles)


async def _over_http(surface: Surface, asked: Profile, place: Place) -> None:
    ending = Ending()
    whole = offer_all(search=asked.search, plain_names=asked.plain_names)
    offer = offer_one(asked) if _is_one_view(asked) else whole
    with heeding(ending):
        async with open_host(surface.home, exclusive=True, handlers=bridge_handlers()) as host:
            ending.host = host
            host.lent = True
            keep_log(host.paths.state / "host.log", host.core.masker.text)
            _check_profile(host.settings, asked.name)
            await preload("toolcrib.control.server", "toolcrib.gateway.http.serving")
            from toolcrib.control.server import serve
            from toolcrib.gateway.http.serving import serve_http

            serving = serve_http(
                host, offer, address=place.host, port=place.port, allowed_hosts=place.allowed_hosts
            )
            async with serve(host), serving as (base, views):
                _announce(surface, base, views)
                await ending.wait()


def _announce(surface: Surface, base: str, views: Views) -> None:
    from toolcrib.gateway.http.views import path_of

    first, *others = (f"{base}{path_of(name)}" for name in views.names)
    if surface.json:
        sys.stdout.write(json.dumps({"url": first, "pid": os.getpid()}) + "\n")
    else:
        sys.stdout.write(f"{first}\n")
        profiles = f" Profiles: {' '.join(others)}" if others else ""
        sys.stderr.write(f"Point an MCP client at this address.{profiles} Ctrl-C ends it.\n")
    sys.stdout.flush()


async def _over_stdio(surface: Surface, asked: Profile) -> None:
    """Beside a host that may be running: the client's servers are its own, and end with it."""
    from toolcrib.serverkit.stdio import claim_streams

    incoming, outgoing = claim_streams()
    ending = Ending()
    with heeding(ending):
        async with open_host(surface.home, exclusive=False, handlers=bridge_handlers()) as host:
            ending.host = host
            host.lent = True
            _check_profile(host.settings, asked.name)
            await preload("toolcrib.gateway.gateway", "toolcrib.gateway.stdio")
            from toolcrib.gateway.gateway import Gateway
            from toolcrib.gateway.stdio import serve_stdio

            gateway = Gateway(host, offer_one(asked)(host.settings)[asked.name].profile)
            serving = asyncio.create_task(serve_stdio(gateway, incoming, outgoing))
            waiting = asyncio.create_task(ending.wait())
            await asyncio.wait({serving, waiting}, return_when=asyncio.FIRST_COMPLETED)
            for task in (serving, waiting):
                task.cancel()
            await asyncio.gather(serving, waiting, return_exceptions=True)

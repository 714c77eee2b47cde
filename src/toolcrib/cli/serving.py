"""Runs the gateway in the foreground, over HTTP or for the one client that started us."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from dataclasses import replace

from toolcrib.cli.ending import Ending, heeding
from toolcrib.cli.host_log import keep_log
from toolcrib.cli.hosting import loop_factory
from toolcrib.cli.surface import Surface
from toolcrib.control.server import serve
from toolcrib.errors import NotFound
from toolcrib.gateway.bridge import bridge_handlers
from toolcrib.gateway.gateway import Gateway
from toolcrib.gateway.http.serving import serve_http
from toolcrib.gateway.profile import Profile
from toolcrib.gateway.stdio import serve_stdio
from toolcrib.host import Host, open_host
from toolcrib.serverkit.stdio import claim_streams
from toolcrib.suggestions import did_you_mean


def serve_gateway(surface: Surface, profile: Profile, *, stdio: bool, port: int) -> int:
    """Until a signal, or the end of the client, ends it; returns the exit code."""
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(_over_stdio(surface, profile) if stdio else _over_http(surface, profile, port))
    return 0


def view(host: Host, asked: Profile) -> Gateway:
    """The gateway of the named profile, narrowed by what was asked for besides."""
    if not asked.name:
        return Gateway(host, asked)
    known = host.settings.profiles
    if asked.name not in known:
        hint = did_you_mean(
            asked.name, known, otherwise="They stand under toolcrib.profiles in the config file."
        )
        raise NotFound(f"There is no profile called {asked.name!r}.", hint=hint)
    named = known[asked.name]
    narrowed = replace(
        asked,
        servers=asked.servers or tuple(named.servers),
        tools=asked.tools or tuple(named.tools),
        read_only=asked.read_only or named.read_only,
        search=asked.search or named.search,
    )
    return Gateway(host, narrowed)


async def _over_http(surface: Surface, profile: Profile, port: int) -> None:
    ending = Ending()
    with heeding(ending):
        async with open_host(surface.home, handlers=bridge_handlers()) as host:
            ending.host = host
            keep_log(host.paths.state / "host.log")
            async with serve(host), serve_http(view(host, profile), port=port) as url:
                _announce(surface, url)
                await ending.wait()


def _announce(surface: Surface, url: str) -> None:
    if surface.json:
        sys.stdout.write(json.dumps({"url": url, "pid": os.getpid()}) + "\n")
    else:
        sys.stdout.write(f"{url}\n")
        sys.stderr.write("Point an MCP client at this address. Ctrl-C ends it.\n")
    sys.stdout.flush()


async def _over_stdio(surface: Surface, profile: Profile) -> None:
    """Beside a host that may be running: the client's servers are its own, and end with it."""
    incoming, outgoing = claim_streams()
    ending = Ending()
    with heeding(ending):
        async with open_host(surface.home, exclusive=False, handlers=bridge_handlers()) as host:
            ending.host = host
            serving = asyncio.create_task(serve_stdio(view(host, profile), incoming, outgoing))
            waiting = asyncio.create_task(ending.wait())
            await asyncio.wait({serving, waiting}, return_when=asyncio.FIRST_COMPLETED)
            for task in (serving, waiting):
                task.cancel()
            await asyncio.gather(serving, waiting, return_exceptions=True)

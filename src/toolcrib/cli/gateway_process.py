"""Runs the gateway in the foreground, over HTTP or over stdio for the client that started it; what it prints
about profiles and approvals."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolcrib.cli.foreground import ended_by_signals, loop_factory
from toolcrib.cli.host_connection import serve_operations, warn_of_incident
from toolcrib.cli.host_log import keep_log
from toolcrib.cli.surface import Surface
from toolcrib.config.settings import Settings
from toolcrib.config.settings_file import unknown_profile
from toolcrib.gateway.bridge import bridge_handlers
from toolcrib.gateway.profile import Profile, approvals_of, empty_profile, offer_all, offer_one
from toolcrib.host import open_host
from toolcrib.loading import preload
from toolcrib.schema.events import ConfigChanged

if TYPE_CHECKING:
    from toolcrib.gateway.gateway import Gateway
    from toolcrib.gateway.http.endpoints import ProfileEndpoints
    from toolcrib.host import Host


@dataclass(frozen=True, kw_only=True)
class HttpAddress:
    """The address that the gateway listens on."""

    host: str = "127.0.0.1"
    port: int = 0
    allowed_hosts: tuple[str, ...] = ()


def serve_gateway(surface: Surface, profile: Profile, address: HttpAddress | None) -> int:
    """Run until a signal, or the end of the client; over stdio without an address."""
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(
            _over_stdio(surface, profile) if address is None else _over_http(surface, profile, address)
        )
    return 0


def _is_one_view(asked: Profile) -> bool:
    """True if only one profile is to be served."""
    return bool(asked.name or asked.servers or asked.tools or asked.read_only)


def _check_profile(settings: Settings, name: str) -> None:
    if name and name not in settings.profiles:
        raise unknown_profile(name, settings.profiles)


async def _over_http(surface: Surface, asked: Profile, address: HttpAddress) -> None:
    whole = offer_all(search=asked.search, plain_names=asked.plain_names)
    offer = offer_one(asked) if _is_one_view(asked) else whole
    with ended_by_signals() as ending:
        async with open_host(surface.home, exclusive=True, handlers=bridge_handlers()) as host:
            ending.host = host
            host.lent = True
            warn_of_incident(host.paths)
            keep_log(host.paths.state / "host.log", host.core.masker.text)
            _check_profile(host.settings, asked.name)
            await preload("toolcrib.ipc.server", "toolcrib.gateway.http.server")
            from toolcrib.gateway.http.server import serve_http

            serving = serve_http(
                host, offer, address=address.host, port=address.port, allowed_hosts=address.allowed_hosts
            )
            async with serve_operations(host), serving as (base, endpoints):
                _announce(surface, base, endpoints)
                await ending.wait()


def _announce(surface: Surface, base: str, endpoints: ProfileEndpoints) -> None:
    from toolcrib.gateway.http.endpoints import path_of

    first, *others = (f"{base}{path_of(name)}" for name in endpoints.names)
    if surface.json:
        sys.stdout.write(json.dumps({"url": first, "pid": os.getpid()}) + "\n")
    else:
        sys.stdout.write(f"{first}\n")
        profiles = f" Profiles: {' '.join(others)}" if others else ""
        sys.stderr.write(f"Connect an MCP client to this address.{profiles} Ctrl-C stops it.\n")
        _explain(endpoints.host, endpoints.profiles)
    sys.stdout.flush()


def _explain(host: Host, profiles: Sequence[Profile]) -> None:
    """Say which calls need approval, and which profiles offer nothing."""
    sys.stderr.write(f"{_what_asks(host.settings, [profile.name for profile in profiles])}\n")
    known = list(host.toolset.registry.snapshot.tools.values())
    for profile in profiles:
        if profile.leaves_nothing(known):
            both = f"both the profile {profile.name} and the options" if profile.name else "the options"
            sys.stderr.write(f"No tool is offered: none fits {both}.\n")


def _what_asks(settings: Settings, names: Sequence[str]) -> str:
    """One line about the calls that need approval."""
    off = [name or "/mcp" for name in names if approvals_of(settings, name) == "off"]
    if len(off) == len(names):
        return "No call of Toolcrib's own tools asks before it sends, invites or deletes (approvals: off)."
    besides = f" Not for clients of {', '.join(off)}." if off else ""
    return f"Toolcrib's own tools ask before they send, invite or delete: {_WHERE}.{besides}"


_WHERE = "in the client if it can ask, else with `toolcrib approvals`"


async def _over_stdio(surface: Surface, asked: Profile) -> None:
    """The client gets its own servers, beside a host that may be running; they end with it."""
    from toolcrib.serverkit.stdio import claim_streams

    incoming, outgoing = claim_streams()
    with ended_by_signals() as ending:
        async with open_host(surface.home, exclusive=False, handlers=bridge_handlers()) as host:
            ending.host = host
            host.lent = True
            warn_of_incident(host.paths)
            _check_profile(host.settings, asked.name)
            await preload("toolcrib.gateway.gateway", "toolcrib.gateway.stdio")
            from toolcrib.gateway.gateway import Gateway
            from toolcrib.gateway.stdio import serve_stdio

            gateway = Gateway(host, _profile_now(host, asked))
            _explain(host, [gateway.profile])
            serving = asyncio.create_task(serve_stdio(gateway, incoming, outgoing))
            waiting = asyncio.create_task(ending.wait())
            following = asyncio.create_task(_follow_profile(gateway, asked))
            await asyncio.wait({serving, waiting}, return_when=asyncio.FIRST_COMPLETED)
            for task in (serving, waiting, following):
                task.cancel()
            await asyncio.gather(serving, waiting, following, return_exceptions=True)


def _profile_now(host: Host, asked: Profile) -> Profile:
    offered = offer_one(asked)(host.settings).get(asked.name)
    return empty_profile(asked.name) if offered is None else offered.profile


async def _follow_profile(gateway: Gateway, asked: Profile) -> None:
    """Apply changes of the profile; once it is removed, the client sees nothing."""
    with gateway.host.events.subscribe() as events:
        async for event in events:
            if isinstance(event, ConfigChanged):
                gateway.change(_profile_now(gateway.host, asked))

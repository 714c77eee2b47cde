"""The bundled servers that use accounts: finds their entries, and turns them on for a new account."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from toolcrib import plugins
from toolcrib.accounts.provider import AccountProvider, server_name
from toolcrib.config.contents import SERVERS
from toolcrib.config.entries import parse_entry
from toolcrib.config.store import ConfigStore
from toolcrib.host import Host

BUNDLED = "toolcrib.bundled"


def servers_for(host: Host, services: Collection[str]) -> list[str]:
    """The configured servers of these services, in the order of the config file."""
    modules = {module_of(service) for service in services}
    return [name for name, entry in host.config.servers.items() if entry.raw.get("module") in modules]


def check_readiness(host: Host, services: Collection[str]) -> None:
    """The accounts changed: have these services tell whether they still have what they need."""
    for name in servers_for(host, services):
        if name in host.servers:
            host.servers[name].check_readiness()


async def turn_on(host: Host, provider: AccountProvider, services: Sequence[str]) -> list[str]:
    """Add or enable a server for each service that has none; returns their names. They need no approval."""
    added, enabled = await asyncio.to_thread(_write, host.core.config_store, provider, services)
    for name, raw in added.items():
        host.core.trust.accept(parse_entry(name, raw))
    if added or enabled:
        await host.reload()
    return [*added, *enabled]


def module_of(service: str) -> str:
    """The module of a bundled server; empty if it is not installed."""
    if service not in plugins.names(BUNDLED):
        return ""
    return plugins.find(BUNDLED, service).__name__


def _write(
    store: ConfigStore, provider: AccountProvider, services: Sequence[str]
) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """The new entries, and the names of those that were off."""
    added: dict[str, dict[str, Any]] = {}
    enabled: list[str] = []
    with store.edit() as document:
        servers: dict[str, Any] = document.get(SERVERS) or {}
        document[SERVERS] = servers
        for service in services:
            module = module_of(service)
            found = [name for name, raw in servers.items() if _module(raw) == module]
            if module and not found:
                name = _free_name(server_name(provider, service), servers)
                servers[name] = added[name] = {"type": "inprocess", "module": module}
            elif module and all(_is_off(servers[name]) for name in found):
                servers[found[0]].pop("disabled", None)
                servers[found[0]]["enabled"] = True
                enabled.append(found[0])
    return added, enabled


def _module(raw: Any) -> object:
    return raw.get("module") if isinstance(raw, Mapping) else None


def _is_off(raw: Mapping[str, Any]) -> bool:
    return raw.get("enabled") is False or raw.get("disabled") is True


def _free_name(wanted: str, taken: Collection[str]) -> str:
    number, name = 1, wanted
    while name in taken:
        number += 1
        name = f"{wanted}-{number}"
    return name

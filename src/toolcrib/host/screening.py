"""Screens tool definitions that were never approved: those with findings wait for a review by the user.

A long list is scanned in a thread; until that is done, its new tools are held.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence

from toolcrib.schema.tools import ToolDefinition
from toolcrib.tools.registry import Registry

FLAGGED = "its definition was flagged and needs your review"
UNCHECKED = "its definition is being checked"
MOST_AT_ONCE = 20
LONGEST_AT_ONCE = 50_000
"""Characters; scanning them takes some 20 milliseconds."""
MOST_KEPT = 100_000
PATIENCE = 2.0


class Screening:
    """A `Screen` for a registry; `list_again` registers the tools of a server again."""

    def __init__(self, registry: Registry, list_again: Callable[[str], Awaitable[None]]) -> None:
        self._registry = registry
        self._list_again = list_again
        self._flagged: dict[tuple[str, str], bool] = {}
        """The results of scans, by server and hash."""
        self._waiting: dict[str, dict[str, ToolDefinition]] = {}
        """What a thread is to scan, by server and hash."""
        self._scans: dict[str, asyncio.Task[None]] = {}

    def __call__(self, server: str, new: Sequence[tuple[ToolDefinition, str]]) -> Mapping[str, str]:
        """The tools that the user has to review first, each with the reason."""
        unknown = {hash_: definition for definition, hash_ in new if (server, hash_) not in self._flagged}
        if unknown and (server in self._scans or _is_long(unknown.values())):
            self._scan_later(server, unknown)
        elif unknown:
            self._note(server, unknown, self._scan(server, unknown))
        reasons = {True: FLAGGED, None: UNCHECKED}
        found = {definition.name: self._flagged.get((server, hash_)) for definition, hash_ in new}
        return {name: reasons[flagged] for name, flagged in found.items() if flagged is not False}

    async def settle(self) -> bool:
        """Wait until no list is being scanned; False if none was."""
        scans = list(self._scans.values())
        await asyncio.gather(*scans, return_exceptions=True)
        return bool(scans)

    async def until_checked(self, server: str) -> None:
        """Wait for the scan of a server's list, so that it becomes ready with its tools; not long."""
        if scan := self._scans.get(server):
            await asyncio.wait({scan}, timeout=PATIENCE)

    async def close(self) -> None:
        for scan in self._scans.values():
            scan.cancel()
        await self.settle()

    def _scan_later(self, server: str, definitions: Mapping[str, ToolDefinition]) -> None:
        self._waiting.setdefault(server, {}).update(definitions)
        if server not in self._scans:
            self._scans[server] = asyncio.create_task(self._scan_waiting(server), name=f"scan of {server}")

    async def _scan_waiting(self, server: str) -> None:
        """Scan what waits, also what a long list adds meanwhile; then its tools are registered again."""
        try:
            while waiting := self._waiting.pop(server, None):
                self._note(server, waiting, await asyncio.to_thread(self._scan, server, waiting))
            await self._list_again(server)
        finally:
            del self._scans[server]
            self._waiting.pop(server, None)

    def _scan(self, server: str, definitions: Mapping[str, ToolDefinition]) -> list[bool]:
        from toolcrib.tools.scanner import scan  # its patterns take long to compile, and few hosts need them

        tools = self._registry.snapshot.tools.values()
        own = {name for tool in tools if tool.server == server for name in (tool.name, tool.definition.name)}
        own |= {definition.name for definition in definitions.values()}
        others = other_names(self._registry, server)
        return [bool(scan(definition.raw, own=own, others=others)) for definition in definitions.values()]

    def _note(self, server: str, scanned: Iterable[str], flagged: Iterable[bool]) -> None:
        if len(self._flagged) > MOST_KEPT:
            self._flagged.clear()
        for hash_, found in zip(scanned, flagged, strict=True):
            self._flagged[server, hash_] = found


def other_names(registry: Registry, server: str) -> frozenset[str]:
    """The names of all other servers and their tools, both original and public."""
    others = (tool for tool in registry.snapshot.tools.values() if tool.server != server)
    return frozenset(
        name for tool in others for name in (tool.name, tool.definition.name, tool.server or "") if name
    )


def _is_long(definitions: Collection[ToolDefinition]) -> bool:
    if len(definitions) > MOST_AT_ONCE:
        return True
    return sum(len(str(definition.raw)) for definition in definitions) > LONGEST_AT_ONCE

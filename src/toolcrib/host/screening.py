"""Screens tool definitions that were never approved: those with findings wait for a review by the user.

A long list is scanned in a thread, portion by portion; until its turn has come, a new tool is held.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from itertools import islice

from toolcrib.schema.tools import UNCHECKED, ToolDefinition
from toolcrib.tools.registry import Registry

MOST_AT_ONCE = 20
LONGEST_AT_ONCE = 50_000
"""Characters; scanning them takes some 20 milliseconds."""
PORTION = 500
"""Tools of a long list that are scanned before they are registered."""
MOST_KEPT = 100_000
PATIENCE = 2.0


class Screening:
    """A `DefinitionScreen`; `recheck` registers the tools of a server that were scanned, by hash."""

    def __init__(
        self, registry: Registry, recheck: Callable[[str, Collection[str]], Awaitable[None]]
    ) -> None:
        self._registry = registry
        self._recheck = recheck
        self._found: dict[tuple[str, str], str] = {}
        """What was found first, by server and hash; empty if nothing was."""
        self._waiting: dict[str, dict[str, ToolDefinition]] = {}
        """What a thread is to scan, by server and hash."""
        self._scans: dict[str, asyncio.Task[None]] = {}

    def __call__(self, server: str, new: Sequence[tuple[ToolDefinition, str]]) -> Mapping[str, str]:
        """The tools that the user has to review first, each with the reason."""
        unknown = {hash_: definition for definition, hash_ in new if (server, hash_) not in self._found}
        if unknown and (server in self._scans or _is_long(unknown.values())):
            self._scan_later(server, unknown)
        elif unknown:
            self._note(server, unknown, self._scan(server, unknown))
        found = {definition.name: self._found.get((server, hash_), UNCHECKED) for definition, hash_ in new}
        return {name: reason for name, reason in found.items() if reason}

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
        """Scan what waits, also what a long list adds meanwhile, and register each portion."""
        waiting = self._waiting[server]
        scanned: set[str] = set()
        try:
            while waiting:
                portion = dict(islice(waiting.items(), PORTION))
                self._note(server, portion, await asyncio.to_thread(self._scan, server, portion))
                for hash_ in portion:
                    waiting.pop(hash_, None)
                scanned.update(portion)
                await self._recheck(server, portion.keys())
            # Once more: a list may have been registered while its last portion was scanned.
            await self._recheck(server, scanned)
        finally:
            del self._scans[server]
            self._waiting.pop(server, None)

    def _scan(self, server: str, definitions: Mapping[str, ToolDefinition]) -> list[str]:
        from toolcrib.tools.scanner import find  # its patterns take long to compile, and few hosts need them

        waiting = self._waiting.get(server, {})
        listed = (definition.name for definition in (*definitions.values(), *waiting.values()))
        own = self._registry.snapshot.names_of(server).union(listed)
        others = self._registry.snapshot.names_beside(server)
        found = (
            next(find(definition.raw, own=own, others=others), None) for definition in definitions.values()
        )
        return ["" if finding is None else f"its definition {finding.what}" for finding in found]

    def _note(self, server: str, scanned: Iterable[str], found: Iterable[str]) -> None:
        if len(self._found) > MOST_KEPT:
            self._found.clear()
        for hash_, reason in zip(scanned, found, strict=True):
            self._found[server, hash_] = reason


def _is_long(definitions: Collection[ToolDefinition]) -> bool:
    if len(definitions) > MOST_AT_ONCE:
        return True
    return sum(len(str(definition.raw)) for definition in definitions) > LONGEST_AT_ONCE

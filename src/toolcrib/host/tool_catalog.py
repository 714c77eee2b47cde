"""Every tool that is known: those that can be called, those that are off or held, and the last known ones of
servers that are away. For whoever wants to see where each stands; nothing is called from here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from toolcrib.schema.servers import CachedTools
from toolcrib.schema.tools import Tool
from toolcrib.tools.registry import Registry

if TYPE_CHECKING:
    from toolcrib.retrieval import Meaning


class ToolCatalog:
    """The tools of a host; `last_known` are the remembered lists of the servers that are configured."""

    def __init__(
        self, registry: Registry, last_known: Callable[[], Mapping[str, CachedTools]], meaning: Meaning
    ) -> None:
        from toolcrib.retrieval import Finder

        self.finder = Finder(meaning)
        self._registry = registry
        self._last_known = last_known
        self._warm = False
        self._read: dict[str, tuple[datetime, tuple[Tool, ...]]] = {}

    def tools(self) -> list[Tool]:
        """All of them; those of servers that are away are marked stale and are not enabled."""
        snapshot = self._registry.snapshot
        away = [
            tool
            for server, remembered in self._last_known().items()
            if server not in snapshot.by_server
            for tool in self._remembered(remembered)
            if tool.name not in snapshot.tools
        ]
        return [*snapshot.tools.values(), *away]

    async def follow(self) -> None:
        """Bring the finder up to date; it holds those that are off as if they were on."""
        await self.finder.follow(self._findable)

    async def warm(self, question: str) -> None:
        """Have everything loaded that the first question would wait for; nothing the second time."""
        if not self._warm:
            self._warm = not (await self.finder.select(question, 1)).note

    def _findable(self) -> list[Tool]:
        return [tool if tool.enabled else replace(tool, enabled=True) for tool in self.tools()]

    def _remembered(self, listed: CachedTools) -> Sequence[Tool]:
        known = self._read.get(listed.server)
        if known is None or known[0] != listed.saved_at:
            apart = self._registry.apart()
            apart.put(listed.server, "mcp", listed.definitions, stale=True, exclude=("*",))
            known = self._read[listed.server] = (listed.saved_at, tuple(apart.snapshot.tools.values()))
        return known[1]

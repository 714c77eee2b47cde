"""Every known tool: callable, disabled and held ones, and the last known tools of unavailable servers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from toolcrib.schema.servers import CachedTools
from toolcrib.schema.tools import Tool
from toolcrib.tools.registry import Registry

if TYPE_CHECKING:
    from toolcrib.retrieval import EmbeddingService


class ToolCatalog:
    """The tools of a host; `last_known` returns the cached lists of the configured servers."""

    def __init__(
        self,
        registry: Registry,
        last_known: Callable[[], Mapping[str, CachedTools]],
        meaning: EmbeddingService,
    ) -> None:
        from toolcrib.retrieval import Finder

        self.finder = Finder(meaning)
        self._registry = registry
        self._last_known = last_known
        self._warm = False
        self._read: dict[str, tuple[datetime, tuple[Tool, ...]]] = {}

    def tools(self) -> list[Tool]:
        """All tools; those of unavailable servers are marked stale and are disabled."""
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
        """Update the finder; disabled tools are included as if they were enabled."""
        await self.finder.follow(self._findable)

    async def warm(self, question: str) -> None:
        """Load everything that the first question needs; does nothing the second time."""
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

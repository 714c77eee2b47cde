"""The tools of a host: where they come from, the catalog that is searched, remembered tool lists, and ranking
by words alone if the embedder is invalid.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from toolcrib.config.expansion import expand
from toolcrib.config.settings import EmbedderSettings
from toolcrib.errors import ToolcribError
from toolcrib.host.server_events import ServerEvents
from toolcrib.host.workspace_tools import WorkspaceTools
from toolcrib.lazy import Lazy
from toolcrib.schema.servers import CachedTools
from toolcrib.schema.tools import Tool
from toolcrib.tools.caller import Caller
from toolcrib.tools.registry import Registry
from toolcrib.tools.sources.inline import InlineTools
from toolcrib.tools.sources.native import NativeTools

if TYPE_CHECKING:
    from toolcrib.retrieval import Finder
    from toolcrib.retrieval.embedding_service import EmbeddingService

AT_ONCE = 1000
"""Tools handled before other tasks get their turn."""
MANY = 200
"""Definitions of a remembered list that take too long to be read at once."""


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
        self._enabled: dict[str, tuple[Tool, Tool]] = {}
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
        await self.read_remembered()
        shown = await self._shown()
        await self.finder.follow(lambda: shown)

    async def read_remembered(self) -> None:
        """Read the last lists of unavailable servers, in short steps; `tools` leaves unread long ones out."""
        for server, listed in self._last_known().items():
            if server in self._registry.snapshot.by_server or self._is_read(listed):
                continue
            apart = self._registry.apart()
            for _ in apart.put_in_steps(server, "mcp", listed.definitions, stale=True, exclude=("*",)):
                await asyncio.sleep(0)
            self._read[server] = (listed.saved_at, tuple(apart.snapshot.tools.values()))

    async def warm(self, question: str) -> None:
        """Load everything that the first question needs; does nothing the second time."""
        if not self._warm:
            self._warm = not (await self.finder.select(question, 1)).note

    async def _shown(self) -> list[Tool]:
        """Every tool as if it were enabled: each time the same object, by which the finder recognises it."""
        before, after = self._enabled, {}
        for number, tool in enumerate(self.tools()):
            known = before.get(tool.name)
            if known is None or known[0] is not tool:
                known = (tool, tool if tool.enabled else replace(tool, enabled=True))
            after[tool.name] = known
            if number % AT_ONCE == AT_ONCE - 1:
                await asyncio.sleep(0)
        self._enabled = after
        return [shown for _, shown in after.values()]

    def _remembered(self, listed: CachedTools) -> Sequence[Tool]:
        if not self._is_read(listed):
            if len(listed.definitions) > MANY:
                return ()
            apart = self._registry.apart()
            apart.put(listed.server, "mcp", listed.definitions, stale=True, exclude=("*",))
            self._read[listed.server] = (listed.saved_at, tuple(apart.snapshot.tools.values()))
        return self._read[listed.server][1]

    def _is_read(self, listed: CachedTools) -> bool:
        known = self._read.get(listed.server)
        return known is not None and known[0] == listed.saved_at


def open_meaning(
    settings: EmbedderSettings, folder: Path, secret: Callable[[str], str | None]
) -> EmbeddingService:
    """The configured embedder, with its vectors in `folder`; if invalid, tools are ranked by words alone."""
    from toolcrib.retrieval import open_embedder
    from toolcrib.retrieval.embedder import EmbedderChoice
    from toolcrib.retrieval.embedding_service import EmbeddingService

    try:
        key = _filled(settings.api_key, secret)
        embedder = open_embedder(EmbedderChoice(settings.kind, settings.model, settings.url, key))
    except ToolcribError as error:
        meaning = EmbeddingService(None, folder)
        meaning.note = f"Ranked by words alone: {error.message} {error.hint}".strip()
        return meaning
    return EmbeddingService(embedder, folder)


def _filled(text: str, secret: Callable[[str], str | None]) -> str:
    if not text:
        return ""
    filled = expand({"env": {"apiKey": text}}, os.environ, secret)
    return str(filled["env"]["apiKey"])


@dataclass(kw_only=True)
class Toolset:
    """Native, inline, workspace and MCP tools under one registry."""

    registry: Registry
    caller: Caller
    """Runs every call, of every surface."""
    native: NativeTools
    inline: InlineTools
    workspace: WorkspaceTools
    """The terminal and the tools for a project's folder."""
    lazy_meaning: Lazy[EmbeddingService]
    server_events: ServerEvents = field(repr=False)

    @property
    def meaning(self) -> EmbeddingService:
        return self.lazy_meaning.value

    @cached_property
    def finder(self) -> Finder:
        """Searches the tools; call `follow` first."""
        from toolcrib.retrieval import Finder

        return Finder(self.meaning)

    async def load_catalog(self) -> ToolCatalog:
        """The catalog; what it needs is loaded in a thread the first time, which takes 0.1 s."""
        if "catalog" not in self.__dict__:
            await asyncio.to_thread(import_module, "toolcrib.retrieval")
        return self.catalog

    @cached_property
    def catalog(self) -> ToolCatalog:
        """Every known tool, including those that cannot be called now."""
        return ToolCatalog(self.registry, self.server_events.last_known, self.meaning)

    async def close(self) -> None:
        if self.lazy_meaning.opened is not None:
            await self.lazy_meaning.opened.close()

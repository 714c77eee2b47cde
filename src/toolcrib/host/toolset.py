"""The tools of a host: where they come from, how they are found and called."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING

from toolcrib.host.server_events import ServerEvents
from toolcrib.host.tool_catalog import ToolCatalog
from toolcrib.host.tool_search import Retrieval
from toolcrib.host.workspace_tools import WorkspaceTools
from toolcrib.tools.caller import Caller
from toolcrib.tools.registry import Registry
from toolcrib.tools.sources.inline import InlineTools
from toolcrib.tools.sources.native import NativeTools

if TYPE_CHECKING:
    from toolcrib.retrieval import Finder
    from toolcrib.retrieval.embedding_service import EmbeddingService


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
    search: Retrieval
    server_events: ServerEvents = field(repr=False)

    @property
    def finder(self) -> Finder:
        """Searches the tools; call `follow` first."""
        return self.search.finder

    @property
    def meaning(self) -> EmbeddingService:
        return self.search.meaning

    async def load_catalog(self) -> ToolCatalog:
        """The catalog; what it needs is loaded in a thread the first time, which takes 0.1 s."""
        if "catalog" not in self.__dict__:
            await asyncio.to_thread(import_module, "toolcrib.retrieval")
        return self.catalog

    @cached_property
    def catalog(self) -> ToolCatalog:
        """Every known tool, including those that cannot be called now."""
        return ToolCatalog(self.registry, self.server_events.last_known, self.meaning)

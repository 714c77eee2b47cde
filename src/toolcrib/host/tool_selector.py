"""Selects the tools that an agent is offered for a question: the best matches, those always offered, and
those used recently, each with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from toolcrib.agent.ports import FoundTool
from toolcrib.config.settings import RetrievalSettings
from toolcrib.schema.tools import Tool

if TYPE_CHECKING:
    from toolcrib.retrieval import Finder, Pick


class ToolSelector:
    """Uses the host's finder, and updates it first; adds the tools that `is_always_offered` accepts."""

    def __init__(
        self,
        tools: Callable[[], Sequence[Tool]],
        finder: Finder,
        settings: Callable[[], RetrievalSettings],
        is_always_offered: Callable[[Tool], bool] = lambda tool: False,
    ) -> None:
        self.tools = tools
        self._finder = finder
        self._settings = settings
        self._is_always_offered = is_always_offered

    async def choose(
        self, question: str, *, context: Sequence[str] = (), recent: Sequence[str] = ()
    ) -> tuple[list[FoundTool], str]:
        """The always-on tools, the best matches and the recently used ones."""
        await self._finder.follow(self.tools)
        settings = self._settings()
        always_on = [
            tool.name
            for tool in self.tools()
            if _fits(tool.name, settings.always_on) or self._is_always_offered(tool)
        ]
        picks = await self._finder.select(
            question, settings.k, always_on=always_on, recent=recent, context=context
        )
        return [FoundTool(tool=pick.tool, why=_why(pick)) for pick in picks], picks.note

    async def search(self, query: str, limit: int) -> list[FoundTool]:
        """The best matches for a query."""
        await self._finder.follow(self.tools)
        picks = await self._finder.select(query, limit)
        return [FoundTool(tool=pick.tool, why=_why(pick)) for pick in picks.matches]


def _fits(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _why(pick: Pick) -> str:
    if pick.kind != "match":
        return pick.kind
    words = dict.fromkeys(term for reason in pick.reasons for term in reason.terms)
    return f"match: {', '.join(words)}" if words else "match"

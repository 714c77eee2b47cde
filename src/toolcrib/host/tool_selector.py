"""The host's tools as the agent sees them: all of them, or those that a question needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from toolcrib.agent.ports import Found
from toolcrib.config.settings import RetrievalSettings
from toolcrib.schema.tools import Tool

if TYPE_CHECKING:
    from toolcrib.retrieval import Finder, Pick


class ToolSelector:
    """Looks tools up by the host's finder, which it brings up to date first; `at_hand` are always offered."""

    def __init__(
        self,
        tools: Callable[[], Sequence[Tool]],
        finder: Finder,
        settings: Callable[[], RetrievalSettings],
        at_hand: Callable[[Tool], bool] = lambda tool: False,
    ) -> None:
        self.tools = tools
        self._finder = finder
        self._settings = settings
        self._at_hand = at_hand

    async def choose(
        self, question: str, *, context: Sequence[str] = (), recent: Sequence[str] = ()
    ) -> tuple[list[Found], str]:
        """Those always on, those that fit, and those just used."""
        await self._finder.follow(self.tools)
        settings = self._settings()
        always_on = [
            tool.name for tool in self.tools() if _fits(tool.name, settings.always_on) or self._at_hand(tool)
        ]
        picks = await self._finder.select(
            question, settings.k, always_on=always_on, recent=recent, context=context
        )
        return [Found(tool=pick.tool, why=_why(pick)) for pick in picks], picks.note

    async def search(self, query: str, limit: int) -> list[Found]:
        """Those that fit these words best."""
        await self._finder.follow(self.tools)
        picks = await self._finder.select(query, limit)
        return [Found(tool=pick.tool, why=_why(pick)) for pick in picks.matches]


def _fits(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _why(pick: Pick) -> str:
    if pick.kind != "match":
        return pick.kind
    words = dict.fromkeys(term for reason in pick.reasons for term in reason.terms)
    return f"match: {', '.join(words)}" if words else "match"

"""The host's tools as the agent sees them: all of them, or those that a question needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase

from toolcrib.agent.ports import Found
from toolcrib.config.settings import RetrievalSettings
from toolcrib.retrieval import Index, Pick, follow
from toolcrib.schema.tools import Tool


class ToolRoom:
    """Looks tools up in the host's index, which it brings up to date first."""

    def __init__(
        self,
        tools: Callable[[], Sequence[Tool]],
        index: Index,
        settings: Callable[[], RetrievalSettings],
    ) -> None:
        self.tools = tools
        self._index = index
        self._settings = settings

    async def choose(
        self, question: str, *, context: Sequence[str] = (), recent: Sequence[str] = ()
    ) -> tuple[list[Found], str]:
        """Those always on, those that fit, and those just used."""
        await follow(self._index, self.tools)
        settings = self._settings()
        always_on = [tool.name for tool in self.tools() if _fits(tool.name, settings.always_on)]
        picks = self._index.select(question, settings.k, always_on=always_on, recent=recent, context=context)
        return [Found(tool=pick.tool, why=_why(pick)) for pick in picks], picks.note

    async def search(self, query: str, limit: int) -> list[Found]:
        """Those that fit these words best."""
        await follow(self._index, self.tools)
        return [Found(tool=pick.tool, why=_why(pick)) for pick in self._index.select(query, limit).matches]


def _fits(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _why(pick: Pick) -> str:
    if pick.kind != "match":
        return pick.kind
    words = dict.fromkeys(term for reason in pick.reasons for term in reason.terms)
    return f"match: {', '.join(words)}" if words else "match"

"""Decides which tools a model is offered in a turn, and why: pinned, found for the question, or searched for;
all if there are few. At most 120; excluded tools are left out.

Offered tools stay for the turn: vendors cache what they were sent, and a change would cost more than it
saves.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

from toolcrib.agent.builtin_tools import NAMES, READ_TOOL, SEARCH_TOOL
from toolcrib.agent.chat import Chat
from toolcrib.agent.ports import FoundTool, ToolFinder
from toolcrib.schema.tools import Tool
from toolcrib.tools.formats import FORMATS

MOST = 120
"""Vendors reject more than 128 at once."""
_MOST_FORMS = 5000


class ToolForms:
    """Tools in vendors' formats, cached by definition."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, str, str], dict[str, Any]] = {}

    def of(self, form: str, tool: Tool) -> dict[str, Any]:
        key = (form, tool.name, tool.hash)
        made = self._made.get(key)
        if made is None:
            if len(self._made) >= _MOST_FORMS:
                self._made.clear()
            made = self._made[key] = FORMATS[form](tool)
        return made


class ToolOffer:
    """The tools of one turn."""

    def __init__(
        self,
        finder: ToolFinder,
        forms: ToolForms,
        form: str,
        offer_all: int,
        *,
        pinned: Sequence[str] = (),
        banned: Sequence[str] = (),
    ) -> None:
        self._finder = finder
        self._forms = forms
        self._form = form
        self._offer_all = offer_all
        self._pinned = pinned
        self._banned = banned
        self._tools: dict[str, Tool] = {}
        self._written: list[dict[str, Any]] | None = None
        self._readable = False

    async def begin(self, question: str, chat: Chat) -> tuple[list[FoundTool], str]:
        """Choose tools for a question; returns them and a note on the search."""
        tools = [tool for tool in self._finder.tools() if self._may_offer(tool)]
        pinned = [FoundTool(tool=tool, why="pinned") for tool in tools if _fits(tool.name, self._pinned)]
        note = ""
        if len(tools) <= self._offer_all:
            found = [FoundTool(tool=tool, why="there are few tools") for tool in tools]
        else:
            earlier = chat.questions()[:-1]
            found, note = await self._finder.choose(question, context=earlier[-3:], recent=chat.used())
        self._readable = chat.keeps > 0
        return self.add([*pinned, *found]), note

    async def search(self, query: str, limit: int) -> tuple[list[FoundTool], list[FoundTool]]:
        """The tools that match a query, and those of them that are new in the offer."""
        found = [hit for hit in await self._finder.search(query, limit) if self._may_offer(hit.tool)]
        return found, self.add(found)

    def is_banned(self, name: str) -> bool:
        """Whether the user excluded this tool from the chat."""
        return _fits(name, self._banned)

    def _may_offer(self, tool: Tool) -> bool:
        return tool.name not in NAMES and not self.is_banned(tool.name)

    def add(self, found: Sequence[FoundTool]) -> list[FoundTool]:
        """Offer these too; returns those that were not offered yet."""
        new: list[FoundTool] = []
        for hit in found:
            name = hit.tool.name
            if name not in self._tools and not self.is_banned(name) and len(self._tools) < MOST:
                self._tools[name] = hit.tool
                new.append(hit)
        if new:
            self._written = None
        return new

    def allow_reading(self) -> None:
        """Offer the tool that reads the rest of a cut result."""
        if not self._readable:
            self._readable = True
            self._written = None

    @property
    def total(self) -> int:
        return len(self._finder.tools())

    @property
    def tokens(self) -> int:
        return sum(tool.tokens for tool in self._tools.values()) + SEARCH_TOOL.tokens

    def written(self) -> list[dict[str, Any]]:
        """All tools in the vendor's format; the same list until something changes."""
        if self._written is None:
            own = [SEARCH_TOOL, READ_TOOL] if self._readable else [SEARCH_TOOL]
            self._written = [self._forms.of(self._form, tool) for tool in (*self._tools.values(), *own)]
        return self._written


def _fits(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)

"""The events of a turn as a surface is told them: tools by their own names, questions ready to show."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from toolcrib.host.chat_questions import QuestionWords
from toolcrib.schema.tools import Tool
from toolcrib.tools.names import BORDER

Json = dict[str, Any]


class ChatWords:
    """Describes events; `tool_of` finds a tool by its public name, `count` says how many there are."""

    def __init__(
        self,
        tool_of: Callable[[str], Tool | None],
        count: Callable[[], int],
        questions: QuestionWords,
    ) -> None:
        self._tool_of = tool_of
        self._count = count
        self._questions = questions

    async def told(self, chat: str, event: Mapping[str, Any]) -> Json:
        """The event as it is told."""
        kind = event["event"]
        if kind == "offered":
            tools = [self.offered(tool["name"], tool["why"]) for tool in event["tools"]]
            return {**event, "tools": tools, "of": self._count()}
        if kind in ("queued", "call", "result"):
            return {**event, **self.named(event["tool"])}
        if kind == "asking":
            return await self._asking(event)
        if kind == "ended":
            return {**event, "calls": len(event["calls"])}
        return dict(event)

    def offered(self, name: str, why: str) -> Json:
        """A tool in an offer: its names, why it is there, and what it costs."""
        tool = self._tool_of(name)
        return {"tool": name, **self.named(name), "why": why, "tokens": 0 if tool is None else tool.tokens}

    def named(self, name: str) -> Json:
        """A tool's server and its own name; of one that is gone, as far as its public name says."""
        tool = self._tool_of(name)
        if tool is not None:
            return {"server": tool.server, "name": tool.definition.name}
        server, border, own = name.partition(BORDER)
        return {"server": server, "name": own} if border else {"server": None, "name": name}

    async def _asking(self, event: Mapping[str, Any]) -> Json:
        if event["about"] != "call":
            return dict(event)
        return {**event, "detail": await self._questions.described(event["detail"])}

"""What chats need: models, stored chats and their events. Opened on first use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from toolcrib.agent.client_requests import OpenQuestions
from toolcrib.agent.live import Turns
from toolcrib.agent.tool_offer import ToolForms
from toolcrib.config.secrets import SecretStore
from toolcrib.host.chat_news import ChatFeed
from toolcrib.host.chat_questions import QuestionWords
from toolcrib.host.core import HostCore
from toolcrib.host.workspace_tools import WorkspaceTools
from toolcrib.llm.context import ModelContext
from toolcrib.llm.models import ModelRegistry
from toolcrib.schema.tools import Tool
from toolcrib.store.chat_rows import ChatRows
from toolcrib.store.chats import Chats
from toolcrib.tools.masker import Masker
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
        """The event as pages receive it."""
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


@dataclass(frozen=True, kw_only=True)
class ChatServices:
    models: ModelRegistry
    store: Chats
    rows: ChatRows
    words: ChatWords
    news: ChatFeed
    questions: OpenQuestions
    """Open questions to the user of a turn."""
    turns: Turns = field(default_factory=Turns)
    forms: ToolForms = field(default_factory=ToolForms)

    async def close(self) -> None:
        """Stop running turns and close the models."""
        await self.turns.close()
        await self.news.close()
        await self.models.close()


def open_chat_services(
    core: HostCore,
    workspace_tools: WorkspaceTools,
    is_ours: Callable[[Tool], bool],
    count_tools: Callable[[], int],
) -> ChatServices:
    database, clock = core.database, core.clock
    context = ModelContext(secret=partial(_secret, core.secrets, core.masker), clock=clock)
    known = QuestionWords(core.tool, is_ours, workspace_tools.holds)
    words = ChatWords(core.tool, count_tools, known)
    return ChatServices(
        models=ModelRegistry(context, core.config.settings.agent),
        store=Chats(database, clock),
        rows=ChatRows(database),
        words=words,
        news=ChatFeed(core.events, words.told),
        questions=core.client_requests.questions,
    )


def _secret(secrets: SecretStore, masker: Masker, name: str) -> str | None:
    """A model's key; from now on it is masked in logs and records."""
    value = secrets.get(name)
    if value is not None:
        masker.learn([value])
    return value

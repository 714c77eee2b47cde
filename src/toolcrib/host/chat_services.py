"""What chats need: models, stored chats and their events. Opened on first use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from toolcrib.agent.client_requests import OpenQuestions
from toolcrib.agent.live import Turns
from toolcrib.agent.tool_offer import ToolForms
from toolcrib.config.secrets import SecretStore
from toolcrib.host.chat_news import ChatNews
from toolcrib.host.chat_questions import QuestionWords
from toolcrib.host.chat_words import ChatWords
from toolcrib.host.core import HostCore
from toolcrib.host.workspace_tools import WorkspaceTools
from toolcrib.llm.context import ModelContext
from toolcrib.llm.models import Models
from toolcrib.schema.tools import Tool
from toolcrib.store.chat_rows import ChatRows
from toolcrib.store.chats import Chats
from toolcrib.tools.masker import Masker


@dataclass(frozen=True, kw_only=True)
class ChatServices:
    models: Models
    store: Chats
    rows: ChatRows
    words: ChatWords
    news: ChatNews
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
        models=Models(context, core.config.settings.agent),
        store=Chats(database, clock),
        rows=ChatRows(database),
        words=words,
        news=ChatNews(core.events, words.told),
        questions=core.client_requests.questions,
    )


def _secret(secrets: SecretStore, masker: Masker, name: str) -> str | None:
    """A model's key; from now on it is masked in logs and records."""
    value = secrets.get(name)
    if value is not None:
        masker.learn([value])
    return value

"""Where chats are held: models, records of what was said, and news of it. Made when somebody asks for any."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from toolcrib.agent.live import Turns
from toolcrib.agent.offering import Forms
from toolcrib.config.secrets import SecretStore
from toolcrib.host.chat_news import ChatNews
from toolcrib.host.chat_questions import QuestionWords
from toolcrib.host.chat_words import ChatWords
from toolcrib.host.foundation import Foundation
from toolcrib.host.gating import is_ours
from toolcrib.host.workbench import Workbench
from toolcrib.llm.context import ModelContext
from toolcrib.llm.opening import Models
from toolcrib.store.chat_rows import ChatRows
from toolcrib.store.chats import Chats
from toolcrib.tools.masking import Masker


@dataclass(frozen=True, kw_only=True)
class Parlour:
    """What a host needs to hold chats."""

    models: Models
    chats: Chats
    rows: ChatRows
    words: ChatWords
    news: ChatNews
    turns: Turns = field(default_factory=Turns)
    forms: Forms = field(default_factory=Forms)

    async def close(self) -> None:
        """End what is being answered, and let go of the models."""
        await self.turns.close()
        await self.news.close()
        await self.models.close()


def open_parlour(foundation: Foundation, workbench: Workbench, count_tools: Callable[[], int]) -> Parlour:
    """The parlour of the host on this foundation."""
    database, clock = foundation.database, foundation.clock
    context = ModelContext(secret=partial(_secret, foundation.secrets, foundation.masker), clock=clock)
    known = QuestionWords(
        foundation.tool, lambda tool: is_ours(tool, foundation.config, workbench), workbench.holds
    )
    words = ChatWords(foundation.tool, count_tools, known)
    return Parlour(
        models=Models(context, foundation.config.settings.agent),
        chats=Chats(database, clock),
        rows=ChatRows(database),
        words=words,
        news=ChatNews(foundation.events, words.told),
    )


def _secret(secrets: SecretStore, masker: Masker, name: str) -> str | None:
    """A model's key; from now on it is hidden in whatever is written down."""
    value = secrets.get(name)
    if value is not None:
        masker.learn([value])
    return value

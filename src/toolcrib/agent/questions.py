"""Questions that wait for a person who is elsewhere: asked by an event, answered by id."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from toolcrib.errors import NotFound

if TYPE_CHECKING:
    from toolcrib.agent.ports import Question

Reply = Mapping[str, Any]


@dataclass(frozen=True)
class Open:
    """A question that nobody has answered yet."""

    question: Question
    reply: asyncio.Future[Reply] = field(repr=False)
    asked_at: datetime = field(default_factory=lambda: datetime.now(UTC))


class Questions:
    """Those that are open. A `Person`, for questions that reach the surface as events."""

    def __init__(self) -> None:
        self.on_change: Callable[[], object] = lambda: None
        """Called whenever one is asked, or is open no more."""
        self._open: dict[str, Open] = {}

    async def answer(self, question: Question) -> Reply:
        """Wait for the answer to a question that was shown."""
        asked = Open(question, asyncio.get_running_loop().create_future())
        self._open[question.id] = asked
        self.on_change()
        try:
            return await asked.reply
        finally:
            self._open.pop(question.id, None)
            self.on_change()

    def waiting(self) -> list[Open]:
        """Those that are open now, the oldest first."""
        return list(self._open.values())

    def decide(self, question_id: str, reply: Reply) -> None:
        """Answer one; raises `NotFound` when it is not open, or no more."""
        asked = self._open.get(question_id)
        if asked is None or asked.reply.done():
            raise NotFound(
                f"No question {question_id!r} is open.", hint="It was answered, or what asked it has ended."
            )
        asked.reply.set_result(reply)

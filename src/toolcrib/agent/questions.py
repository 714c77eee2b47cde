"""Questions that wait for a person who is elsewhere: asked by an event, answered by id."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from toolcrib.agent.ports import Question
from toolcrib.errors import NotFound

Reply = Mapping[str, Any]


class Questions:
    """Those that are open. A `Person`, for questions that reach the surface as events."""

    def __init__(self) -> None:
        self._open: dict[str, asyncio.Future[Reply]] = {}

    async def answer(self, question: Question) -> Reply:
        """Wait for the answer to a question that was shown."""
        return await self.wait(question.id)

    async def wait(self, question_id: str) -> Reply:
        """The same by its id alone."""
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._open[question_id] = future
        try:
            return await future
        finally:
            self._open.pop(question_id, None)

    def decide(self, question_id: str, reply: Reply) -> None:
        """Answer one; raises `NotFound` when it is not open, or no more."""
        future = self._open.get(question_id)
        if future is None or future.done():
            raise NotFound(
                f"No question {question_id!r} is open.", hint="It was answered, or what asked it has ended."
            )
        future.set_result(reply)

"""Asks where nobody is: the question is kept until a person answers it, from wherever that is.

The call waits meanwhile. When it is cancelled, or its process dies, the question stays: an answer that comes
later is found by the next call that is the same, which then runs (or not) without asking again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from toolcrib.approvals.ports import RequestStore
from toolcrib.approvals.question import Answer, Question

POLL = 1.0
"""Seconds between looks: an answer may come from another process, which tells us nothing."""


class DurableAsker:
    """An `Asker` for sessions without a person; `timeout` in seconds, None to wait for ever."""

    def __init__(self, requests: RequestStore, *, timeout: float | None = None) -> None:
        self.requests = requests
        self.on_change: Callable[[], object] = lambda: None
        """Called whenever a question was kept or answered."""
        self._timeout = timeout
        self._news = asyncio.Event()

    async def ask(self, question: Question) -> Answer:
        """Wait for the answer; a no that says so when none came in time."""
        try:
            async with asyncio.timeout(self._timeout):
                return await self._wait(question)
        except TimeoutError:
            return Answer(allow=False, message="nobody answered in time")

    async def answer(self, question_id: str, answer: Answer) -> bool:
        """A person answers a question that waits; False when there is none of this id."""
        known = await self.requests.answer(question_id, answer)
        self._news.set()
        self._news = asyncio.Event()
        self.on_change()
        return known

    async def _wait(self, question: Question) -> Answer:
        answer = await self.requests.take(question.digest)
        if answer is not None:
            return answer
        await self.requests.put(question)
        self.on_change()
        while True:
            news = self._news
            answer = await self.requests.take(question.digest)
            if answer is not None:
                return answer
            try:
                async with asyncio.timeout(POLL):
                    await news.wait()
            except TimeoutError:
                continue

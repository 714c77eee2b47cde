"""Tools and people for the agent's tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from toolcrib.agent.ports import AgentQuestion


class Person:
    """Somebody who says the same to every question."""

    def __init__(self, reply: Mapping[str, Any]) -> None:
        self.reply = reply
        self.asked: list[AgentQuestion] = []

    async def answer(self, question: AgentQuestion) -> Mapping[str, Any]:
        self.asked.append(question)
        return self.reply


@pytest.fixture
def person() -> type[Person]:
    return Person

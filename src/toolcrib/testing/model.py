"""A model whose answers and tool calls a test lists in order; it records the requests that it gets.

model = ScriptedModel(calls(("demo__add", {"a": 1, "b": 2})), "It is 3.")
answer = await host.agent(model).ask("What is 1 plus 2?")
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from toolcrib.llm.model import CompletionRequest, ModelEvent, ModelTraits, TextDelta
from toolcrib.llm.stream_reader import AnswerBuilder
from toolcrib.schema.messages import Usage


@dataclass(frozen=True)
class ScriptedCalls:
    """A step in which the model calls tools; arguments may be text, to be invalid JSON."""

    made: tuple[tuple[str, Mapping[str, Any] | str], ...]
    saying: str = ""


def calls(*made: tuple[str, Mapping[str, Any] | str], saying: str = "") -> ScriptedCalls:
    """A step in which the model calls these tools at once."""
    return ScriptedCalls(made, saying)


Step = str | ScriptedCalls | Exception | Callable[[CompletionRequest], "str | ScriptedCalls"]
"""What the model does: answer, call tools, fail, or decide by the request."""


class ScriptedModel:
    """Takes one step for each request; repeats the last one."""

    form = "openai"

    def __init__(self, *steps: Step, name: str = "scripted:model", traits: ModelTraits | None = None) -> None:
        self.name = name
        self.requests: list[CompletionRequest] = []
        """All requests, oldest first."""
        self.hold: asyncio.Event | None = None
        """If set, an answer waits for this event after its first word."""
        self.speaking = asyncio.Event()
        """Set once it has begun an answer."""
        self._steps = steps or ("Hello.",)
        self._traits = traits or ModelTraits()

    async def traits(self) -> ModelTraits:
        return self._traits

    async def close(self) -> None:
        pass

    async def stream(self, request: CompletionRequest) -> AsyncGenerator[ModelEvent, None]:
        step = self._steps[min(len(self.requests), len(self._steps) - 1)]
        self.requests.append(request)
        if isinstance(step, Exception):
            raise step
        taken = step(request) if callable(step) else step
        builder = AnswerBuilder(usage=Usage(input=100, output=10, requests=1))
        async for event in self._take(builder, taken):
            yield event
        yield builder.finish()

    async def _take(
        self, builder: AnswerBuilder, step: str | ScriptedCalls
    ) -> AsyncGenerator[ModelEvent, None]:
        text = step if isinstance(step, str) else step.saying
        for word in re.findall(r"\S+\s*", text):
            builder.say(word)
            yield TextDelta(word)
            self.speaking.set()
            if self.hold is not None:
                await self.hold.wait()
        for name, arguments in step.made if isinstance(step, ScriptedCalls) else ():
            given = arguments if isinstance(arguments, str) else dict(arguments)
            yield builder.call("", name, given)

"""A model that gives the answers of a script, with the ways in which answers end."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass

from toolcrib.llm.model import CompletionRequest, ModelEvent, ModelTraits, TextDelta
from toolcrib.llm.stream_reader import AnswerBuilder
from toolcrib.schema.messages import StopReason, Usage


@dataclass(frozen=True)
class Answer:
    text: str
    reason: StopReason = "end"


Step = Answer | Callable[[CompletionRequest], Answer]


class AnswerModel:
    """Takes one step for each request; repeats the last one."""

    form = "openai"
    name = "scripted:planner"

    def __init__(self, steps: Sequence[Step], *, structured: bool = True) -> None:
        self.requests: list[CompletionRequest] = []
        self._steps = steps
        self._traits = ModelTraits(structured=structured)

    async def traits(self) -> ModelTraits:
        return self._traits

    async def close(self) -> None:
        pass

    async def stream(self, request: CompletionRequest) -> AsyncGenerator[ModelEvent, None]:
        step = self._steps[min(len(self.requests), len(self._steps) - 1)]
        self.requests.append(request)
        answer = step if isinstance(step, Answer) else step(request)
        builder = AnswerBuilder(usage=Usage(input=100, output=10, requests=1))
        builder.say(answer.text)
        yield TextDelta(answer.text)
        builder.reason = answer.reason
        yield builder.finish()

"""A model that says what a test tells it to, in order; it notes what it was asked.

model = ScriptedModel(calls(("demo__add", {"a": 1, "b": 2})), "It is 3.")
answer = await host.agent(model).ask("What is 1 plus 2?")
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from toolcrib.llm.model import ModelEvent, Request, TextDelta, Traits
from toolcrib.llm.stream_reader import Gathering
from toolcrib.schema.messages import Usage


@dataclass(frozen=True)
class Calls:
    """A step in which the model asks for tools; arguments may be text, to be broken JSON."""

    made: tuple[tuple[str, Mapping[str, Any] | str], ...]
    saying: str = ""


def calls(*made: tuple[str, Mapping[str, Any] | str], saying: str = "") -> Calls:
    """A step in which the model asks for these tools, all at once."""
    return Calls(made, saying)


Step = str | Calls | Exception | Callable[[Request], "str | Calls"]
"""What the model does when it is asked: it speaks, calls, fails, or decides by what it was asked."""


class ScriptedModel:
    """Takes one step each time it is asked; after the last it repeats that one."""

    form = "openai"

    def __init__(self, *steps: Step, name: str = "scripted:model", traits: Traits | None = None) -> None:
        self.name = name
        self.requests: list[Request] = []
        """Everything it was asked, the oldest first."""
        self.hold: asyncio.Event | None = None
        """While this is set to an event, an answer waits for it after its first word."""
        self.speaking = asyncio.Event()
        """Set once it has begun an answer."""
        self._steps = steps or ("Hello.",)
        self._traits = traits or Traits()

    async def traits(self) -> Traits:
        """As it was told."""
        return self._traits

    async def close(self) -> None:
        """Nothing to let go of."""

    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        """Take the next step."""
        step = self._steps[min(len(self.requests), len(self._steps) - 1)]
        self.requests.append(request)
        if isinstance(step, Exception):
            raise step
        taken = step(request) if callable(step) else step
        gathering = Gathering(usage=Usage(input=100, output=10, requests=1))
        async for event in self._take(gathering, taken):
            yield event
        yield gathering.finish()

    async def _take(self, gathering: Gathering, step: str | Calls) -> AsyncGenerator[ModelEvent, None]:
        text = step if isinstance(step, str) else step.saying
        for word in re.findall(r"\S+\s*", text):
            gathering.say(word)
            yield TextDelta(word)
            self.speaking.set()
            if self.hold is not None:
                await self.hold.wait()
        for name, arguments in step.made if isinstance(step, Calls) else ():
            given = arguments if isinstance(arguments, str) else dict(arguments)
            yield gathering.call("", name, given)

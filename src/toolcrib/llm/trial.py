"""Tries a model out: whether the key is taken, the address answers, and the model speaks."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime

from toolcrib.errors import ModelError, ModelKeyRefused, ModelUnreachable
from toolcrib.llm.model import Finished, Model, Request
from toolcrib.schema.messages import FromPerson, Text, Usage

QUESTION = "Answer with the single word: ready"
MOST_TOKENS = 256
"""Enough for a word by a model that thinks before it speaks."""


@dataclass(frozen=True, kw_only=True)
class ModelTrial:
    """A model that answered."""

    model: str
    answer: str
    ms: float
    usage: Usage


@dataclass(frozen=True, kw_only=True)
class LastTrial:
    """How the last trial of a vendor went."""

    at: datetime
    model: str
    ms: float | None = None
    """None where it did not answer."""
    refused: bool = False
    """It was the key that was not taken."""
    reason: str = ""


class Trials:
    """The last trial of each vendor, for as long as the host runs."""

    def __init__(self) -> None:
        self._last: dict[str, LastTrial] = {}

    def of(self, vendor: str) -> LastTrial | None:
        """That of this vendor, if there was one."""
        return self._last.get(vendor)

    def worked(self, vendor: str, trial: ModelTrial) -> None:
        """It answered."""
        now = datetime.now().astimezone()
        self._last[vendor] = LastTrial(at=now, model=trial.model, ms=trial.ms)

    def failed(self, vendor: str, model: str, error: ModelError) -> None:
        """It did not."""
        refused = isinstance(error, ModelKeyRefused)
        now = datetime.now().astimezone()
        self._last[vendor] = LastTrial(at=now, model=model, refused=refused, reason=error.message)

    def forget_failures(self) -> None:
        """A key is another one now: what failed before may work."""
        self._last = {vendor: last for vendor, last in self._last.items() if last.ms is not None}


async def try_model(model: Model, *, timeout: float = 30.0) -> ModelTrial:
    """Ask for one word; raises `ModelError` that says what is wrong and what to do."""
    started = time.perf_counter()
    request = Request(messages=[FromPerson(parts=(Text(QUESTION),))], max_tokens=MOST_TOKENS)
    try:
        async with asyncio.timeout(timeout):
            finished = await _answer(model, request)
    except TimeoutError:
        raise ModelUnreachable(
            f"{model.name} did not answer within {timeout:g} seconds.", hint="Try again, or another model."
        ) from None
    return ModelTrial(
        model=model.name,
        answer=finished.message.text.strip(),
        ms=round((time.perf_counter() - started) * 1000, 1),
        usage=finished.usage,
    )


async def _answer(model: Model, request: Request) -> Finished:
    async with aclosing(model.stream(request)) as events:
        async for event in events:
            if isinstance(event, Finished):
                return event
    raise ModelError(f"{model.name} ended without a word.")

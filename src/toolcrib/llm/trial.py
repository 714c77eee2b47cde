"""Tries a model out: whether the key is taken, the address answers, and the model speaks."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing
from dataclasses import dataclass

from toolcrib.errors import ModelError, ModelUnreachable
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

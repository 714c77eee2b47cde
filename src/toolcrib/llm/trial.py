"""Tests a model: whether the key is accepted, the address answers, and the model replies. Has the test
question, and remembers the last result of each vendor.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from datetime import datetime

from toolcrib.errors import ModelError, ModelKeyRefused, ModelUnreachable
from toolcrib.llm.model import CompletionRequest, Model, complete
from toolcrib.schema.messages import FromUser, Text, Usage

QUESTION = "Answer with the single word: ready"
MOST_TOKENS = 256
"""Enough for one word by a reasoning model."""


@dataclass(frozen=True, kw_only=True)
class ModelTried:
    """A test of a model."""

    model: str
    answer: str
    ms: float


@dataclass(frozen=True, kw_only=True)
class ModelTrial(ModelTried):
    """A test and its cost, which the user is not shown."""

    usage: Usage


@dataclass(frozen=True, kw_only=True)
class VendorTrial:
    """The last test of a vendor since the host started."""

    at: datetime
    model: str
    ms: float | None = None
    """None if it did not answer."""
    refused: bool = False
    """Whether the vendor rejected the key."""
    reason: str = ""


class Trials:
    """The last trial of each vendor since the host started."""

    def __init__(self) -> None:
        self._last: dict[str, VendorTrial] = {}

    def of(self, vendor: str) -> VendorTrial | None:
        return self._last.get(vendor)

    def worked(self, vendor: str, trial: ModelTrial) -> None:
        now = datetime.now().astimezone()
        self._last[vendor] = VendorTrial(at=now, model=trial.model, ms=trial.ms)

    def failed(self, vendor: str, model: str, error: ModelError) -> None:
        refused = isinstance(error, ModelKeyRefused)
        now = datetime.now().astimezone()
        self._last[vendor] = VendorTrial(at=now, model=model, refused=refused, reason=error.message)

    def forget_failures(self) -> None:
        """A key changed, so failed vendors may work now."""
        self._last = {vendor: last for vendor, last in self._last.items() if last.ms is not None}


async def try_model(model: Model, *, timeout: float = 30.0) -> ModelTrial:
    """Ask for one word; raises `ModelError`."""
    started = time.perf_counter()
    request = CompletionRequest(messages=[FromUser(parts=(Text(QUESTION),))], max_tokens=MOST_TOKENS)
    try:
        async with asyncio.timeout(timeout):
            finished = await complete(model, request)
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

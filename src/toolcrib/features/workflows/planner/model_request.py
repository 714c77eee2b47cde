"""Asks a model once, under a deadline: for a structured answer if it supports them, else for text."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from toolcrib.errors import ModelError, ModelUnreachable
from toolcrib.llm.model import CompletionRequest, Finished, Model
from toolcrib.schema.messages import Message

TIMEOUT = 180.0
"""Seconds for one answer."""


class PlanningModel:
    """A model that is asked for JSON; remembers if its server rejects structured answers."""

    def __init__(self, model: Model, schema: Mapping[str, Any], *, timeout: float = TIMEOUT) -> None:
        self.name = model.name
        self._model = model
        self._schema: Mapping[str, Any] | None = schema
        self._timeout = timeout

    async def ask(self, system: str, messages: Sequence[Message]) -> Finished:
        """Raises `ModelError`."""
        if self._schema is not None and not (await self._model.traits()).structured:
            self._schema = None
        request = CompletionRequest(messages=messages, system=system, answer_schema=self._schema)
        try:
            return await self._answer(request)
        except ModelError as error:
            # A server with a compatible protocol may not know structured answers.
            if self._schema is None or type(error) is not ModelError:
                raise
        self._schema = None
        return await self._answer(replace(request, answer_schema=None))

    async def _answer(self, request: CompletionRequest) -> Finished:
        try:
            async with asyncio.timeout(self._timeout), aclosing(self._model.stream(request)) as events:
                async for event in events:
                    if isinstance(event, Finished):
                        return event
        except TimeoutError:
            raise ModelUnreachable(
                f"{self.name} did not answer within {self._timeout:g} seconds.",
                hint="Try again, or choose another model.",
            ) from None
        raise ModelError(f"{self.name} ended without an answer.")

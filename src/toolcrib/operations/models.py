"""Models: vendors and the keys found for them, testing a model, and usage of recent turns with tokens and
cost (of how many days)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated

from pydantic import Field

from toolcrib.errors import ModelError, NoModel
from toolcrib.host import Host
from toolcrib.llm.models import read_name
from toolcrib.llm.trial import ModelTried, try_model
from toolcrib.llm.vendors import survey
from toolcrib.operations.operation import (
    operation,
)
from toolcrib.operations.results.calls import ModelRequest, ModelRequests
from toolcrib.operations.results.models import Models, Vendor
from toolcrib.schema.json_values import moment
from toolcrib.store.chat_rows import TurnTaken, sums, turns


@operation(page=True)
async def models(host: Host) -> Models:
    """List model vendors and the keys found for them."""
    try:
        chosen = host.chats.models.choose()
    except NoModel:
        chosen = None
    trials = host.chats.models.trials
    offers = await survey(host.chats.models)
    vendors = [Vendor(**vars(offer), tried=trials.of(offer.vendor)) for offer in offers]
    return {"model": chosen, "vendors": vendors}


@operation(page=True)
async def model_try(
    host: Host,
    model: Annotated[str, Field(min_length=1)],
    *,
    key_name: str = "",
    key: Annotated[str, Field(repr=False)] = "",
    timeout: Annotated[float, Field(gt=0, le=600)] = 30.0,
) -> ModelTried:
    """Test a model with a stored key or a new one.

    Raises `ModelError` with the reason.
    """
    given = {key_name: key} if key_name and key else {}
    models = host.chats.models.lend(given) if given else host.chats.models
    vendor = read_name(model).vendor
    try:
        tried = await try_model(models.get(model), timeout=timeout)
    except ModelError as error:
        if not given:  # A new key says nothing about the stored one.
            host.chats.models.trials.failed(vendor, model, error)
        raise
    finally:
        if models is not host.chats.models:
            await models.close()
    host.chats.models.trials.worked(vendor, tried)
    return ModelTried(model=tried.model, answer=tried.answer, ms=tried.ms)


DAYS = 30


@operation(page=True)
async def model_requests(host: Host, *, limit: Annotated[int, Field(ge=1, le=2000)] = 200) -> ModelRequests:
    """List the usage of recent turns: model, rounds, tokens, cost."""
    found = await host.audit.look(lambda connection: turns(connection, limit + 1))
    since = datetime.now(UTC) - timedelta(days=DAYS)
    used, written, cost = await host.audit.look(lambda connection: sums(connection, since))
    return {
        "turns": [_request_json(turn) for turn in found[:limit]],
        "more": len(found) > limit,
        "input": used,
        "output": written,
        "cost": cost,
        "days": DAYS,
    }


def _request_json(turn: TurnTaken) -> ModelRequest:
    took = turn.took
    return {
        "chat": turn.chat,
        "title": turn.title,
        "time": moment(turn.time),
        "model": took.model,
        "ending": took.ending,
        "rounds": took.rounds,
        "input": took.usage.input,
        "output": took.usage.output,
        "cached": took.usage.cached,
        "cost": took.cost,
    }

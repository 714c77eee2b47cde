"""`model_requests`: what the turns of all chats took: model, rounds, tokens, cost."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from pydantic import Field

from toolcrib.control.answers.activity import ModelRequest, ModelRequests
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.control.shapes import moment
from toolcrib.host import Host
from toolcrib.store.turns_taken import TurnTaken, sums, turns

FOR_PAGES = True

DAYS = 30


class Params(OperationParams):
    """How many."""

    limit: int = Field(default=200, ge=1, le=2000)


def needs(params: Params, configured: Configured) -> Needs:
    """They are in the database."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> ModelRequests:
    """`{turns, more, input, output, cost, days}`."""
    found = await host.audit.look(lambda connection: turns(connection, params.limit + 1))
    since = datetime.now(UTC) - timedelta(days=DAYS)
    used, written, cost = await host.audit.look(lambda connection: sums(connection, since))
    return {
        "turns": [_shown(one) for one in found[: params.limit]],
        "more": len(found) > params.limit,
        "input": used,
        "output": written,
        "cost": cost,
        "days": DAYS,
    }


def _shown(one: TurnTaken) -> ModelRequest:
    took = one.took
    return {
        "chat": one.chat,
        "title": one.title,
        "time": moment(one.time),
        "model": took.model,
        "ending": took.ending,
        "rounds": took.rounds,
        "input": took.usage.input,
        "output": took.usage.output,
        "cached": took.usage.cached,
        "cost": took.cost,
    }

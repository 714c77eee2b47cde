"""`calls`: the record of calls by words, page by page, each with who asked and what the gate said."""

from __future__ import annotations

from functools import partial

from pydantic import Field

from toolcrib.control.answers.activity import Calls
from toolcrib.control.call_filter import read_filter
from toolcrib.control.call_shapes import read_place, shown_call
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.control.policy_shapes import rule_numbers
from toolcrib.host import Host
from toolcrib.store.audit_search import count, find

FOR_PAGES = True


class Params(OperationParams):
    """Words such as `server:git outcome:failed who:gateway since:today push`, and which page."""

    words: str = Field(default="", max_length=2000)
    limit: int = Field(default=200, ge=1, le=2000)
    before: str | None = None
    """The place of the last call that is known: those before it."""
    after: str | None = None
    """The place of the first call that is known: those after it."""
    count: bool = True
    """Whether to say how many there are in all."""


def needs(params: Params, configured: Configured) -> Needs:
    """The record is in the database."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> Calls:
    """`{calls, matching, more}`; raises `UsageError` for words that cannot be meant."""
    wanted = read_filter(params.words)
    before, after = read_place(params.before), read_place(params.after)
    found = await host.audit.look(
        partial(find, wanted=wanted, limit=params.limit + 1, before=before, after=after)
    )
    matching = await host.audit.look(partial(count, wanted=wanted)) if params.count else None
    numbers = rule_numbers(host)
    return {
        "calls": [shown_call(host, one, numbers) for one in found[: params.limit]],
        "matching": matching,
        "more": len(found) > params.limit,
    }

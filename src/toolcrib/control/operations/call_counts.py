"""`call_counts`: how many calls there were of late, and how they went."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial

from pydantic import Field

from toolcrib.control.answers.activity import CallCounts
from toolcrib.control.call_filter import OUTCOMES
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.host import Host
from toolcrib.store.audit_search import sums

FOR_PAGES = True


class Params(OperationParams):
    """Of how many days."""

    days: int = Field(default=30, ge=1, le=3650)


def needs(params: Params, configured: Configured) -> Needs:
    """The record is in the database."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> CallCounts:
    """`{total, asked, denied, failed, days}`."""
    since = datetime.now(UTC) - timedelta(days=params.days)
    found = await host.audit.look(partial(sums, since=since))
    return {
        "total": found.total,
        "asked": found.asked,
        "denied": found.ended.get("denied", 0),
        "failed": sum(found.ended.get(outcome, 0) for outcome in OUTCOMES["failed"]),
        "days": params.days,
    }

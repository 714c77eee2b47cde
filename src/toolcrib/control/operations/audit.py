"""`audit`: the calls that went through the door, newest first."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from toolcrib.control.answers.calls import CallRecorded
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.control.shapes import record_json
from toolcrib.host import Host
from toolcrib.schema.tools import Outcome

FOR_PAGES = True


class Params(OperationParams):
    """What to look for."""

    limit: int = Field(default=50, ge=1, le=100_000)
    tool: str | None = None
    server: str | None = None
    principal: str | None = None
    outcome: Outcome | None = None
    since: datetime | None = None


def needs(params: Params, configured: Configured) -> Needs:
    """The record is in the database."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> list[CallRecorded]:
    """An array of calls."""
    records = await host.audit.query(
        limit=params.limit,
        tool=params.tool,
        server=params.server,
        principal=params.principal,
        outcome=params.outcome,
        since=params.since,
    )
    return [record_json(record) for record in records]

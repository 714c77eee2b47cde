"""Stops what this process still does for runs that are no longer its own."""

from __future__ import annotations

import sqlalchemy as sa

from toolcrib.features.workflows.engine.active_run import ActiveRun
from toolcrib.features.workflows.engine.dbos_internals import (
    DBOSWorkflowCancelledError,
    DBOSWorkflowConflictIDError,
)
from toolcrib.features.workflows.engine.outcomes import status
from toolcrib.features.workflows.engine.runtime import Runtime

CHUNK = 400


async def stop_lost(runtime: Runtime, names: list[str]) -> None:
    """Stop the visits of runs that were cancelled or that another worker has."""
    now = runtime.clock.monotonic()
    for start in range(0, len(names), CHUNK):
        query = sa.select(status.c.workflow_uuid, status.c.status, status.c.owner_xid).where(
            status.c.workflow_uuid.in_(names[start : start + CHUNK])
        )
        for row in await runtime.database.run(lambda c, query=query: list(c.execute(query))):  # type: ignore[misc]
            if row.workflow_uuid in runtime.active:
                stop_if_lost(runtime.active[row.workflow_uuid], row.status, row.owner_xid)
    for name in names:
        if name in runtime.active:
            runtime.active[name].confirmed = now


def stop_if_lost(execution: ActiveRun, state: str, owner: str | None) -> None:
    if state == "CANCELLED":
        execution.stop(DBOSWorkflowCancelledError(f"{execution.run} was cancelled."))
    elif owner != execution.owner:
        execution.stop(DBOSWorkflowConflictIDError(execution.run))

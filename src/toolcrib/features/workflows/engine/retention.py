"""Removes old runs: by age, and by the size of everything that is recorded."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import sqlalchemy as sa

from toolcrib.clock import may_have_jumped
from toolcrib.features.workflows.engine.database import Database
from toolcrib.features.workflows.engine.dbos_internals import SystemSchema
from toolcrib.features.workflows.engine.outcomes import FINAL_STATUSES, of_family, output, status
from toolcrib.features.workflows.engine.tables import begun, events, runs, waits

steps = SystemSchema.operation_outputs
inputs = SystemSchema.workflow_input
AT_ONCE = 100
"""Runs that are removed in one transaction."""


@dataclass(frozen=True)
class _Size:
    run: str
    created: float
    bytes: int


class Retention:
    """Removes runs that are over; their sub-workflows and items go with them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def prune(
        self, *, older_than: float | None = None, largest: int | None = None, now: float | None = None
    ) -> list[str]:
        """Remove runs created before this time (seconds since 1970), then the oldest until the rest fits.

        None is removed for its age if the clock may have jumped to `now`. The ids of the removed runs and of
        their sub-workflows, for their artifacts.
        """
        sizes = await self._database.run(_sizes)
        if now is not None and may_have_jumped([each.created for each in sizes], now):
            older_than = None
        chosen = [each.run for each in sizes if older_than is not None and each.created < older_than]
        left = [each for each in sizes if each.run not in set(chosen)]
        total = sum(each.bytes for each in left)
        for each in left:
            if largest is None or total <= largest:
                break
            chosen.append(each.run)
            total -= each.bytes
        return await self._remove(chosen)

    async def _remove(self, chosen: list[str]) -> list[str]:
        removed: list[str] = []
        for start in range(0, len(chosen), AT_ONCE):
            part = chosen[start : start + AT_ONCE]
            removed += await self._database.run(partial(_remove, part=part))
        if removed and self._database.is_sqlite:
            await self._database.run(
                lambda connection: connection.exec_driver_sql("PRAGMA incremental_vacuum")
            )
        return removed


def _over() -> sa.Select[Any]:
    """Root runs that are over; a run without a status was never started."""
    joined = runs.outerjoin(status, status.c.workflow_uuid == runs.c.run)
    return (
        sa.select(runs.c.run, runs.c.created)
        .select_from(joined)
        .where(
            runs.c.parent.is_(None), sa.or_(status.c.status.in_(FINAL_STATUSES), status.c.status.is_(None))
        )
        .order_by(runs.c.created)
    )


def _sizes(connection: sa.Connection) -> list[_Size]:
    recorded: dict[str, int] = {}
    for table, column in ((steps, steps.c.output), (inputs, inputs.c.inputs), (output, output.c.output)):
        size = sa.func.coalesce(sa.func.sum(sa.func.length(column)), 0)
        for row in connection.execute(sa.select(table.c.workflow_uuid, size).group_by(table.c.workflow_uuid)):
            root = row[0].partition("/")[0]
            recorded[root] = recorded.get(root, 0) + row[1]
    return [_Size(row.run, row.created, recorded.get(row.run, 0)) for row in connection.execute(_over())]


def _remove(connection: sa.Connection, part: list[str]) -> list[str]:
    removed: list[str] = []
    for run in list(connection.execute(_over().where(runs.c.run.in_(part))).scalars()):
        removed += connection.execute(
            sa.select(runs.c.run).where(of_family(connection, runs.c.run, run)).order_by(runs.c.run)
        ).scalars()
        for table, column in (
            (inputs, inputs.c.workflow_uuid),
            (output, output.c.workflow_uuid),
            (steps, steps.c.workflow_uuid),
            (status, status.c.workflow_uuid),
            (runs, runs.c.run),
            (begun, begun.c.run),
            (waits, waits.c.run),
            (events, events.c.run),
        ):
            connection.execute(sa.delete(table).where(of_family(connection, column, run)))
    return removed

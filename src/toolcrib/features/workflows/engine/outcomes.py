"""How runs ended, from the tables of DBOS: final and active states, and the error of a run that was
interrupted too often.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from toolcrib.features.workflows.engine.database import RunDatabase
from toolcrib.features.workflows.engine.dbos_internals import SystemSchema
from toolcrib.features.workflows.engine.serializer import JsonSerializer, RunFailed, shown

status = SystemSchema.workflow_status
output = SystemSchema.workflow_output
FINAL_STATUSES = ("SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED")
ACTIVE_STATUSES = ("PENDING", "ENQUEUED", "DELAYED")


def of_family(connection: sa.Connection, column: sa.Column[Any], run: str) -> sa.ColumnElement[bool]:
    """Whether this is the run or was started by it: `run/…`. The character after `/` is `0`."""
    name = column if connection.dialect.name == "sqlite" else column.collate("C")
    return sa.or_(column == run, sa.and_(name > f"{run}/", name < f"{run}0"))


def outermost(connection: sa.Connection, column: sa.Column[Any]) -> sa.ColumnElement[str]:
    """The run that a user sees, of which this one is a part."""
    if connection.dialect.name != "sqlite":
        return sa.func.split_part(column, "/", 1)
    return sa.func.substr(column, 1, sa.func.instr(column + "/", "/") - 1)


def among(
    connection: sa.Connection, column: sa.ColumnElement[str], names: Collection[str]
) -> sa.ColumnElement[bool]:
    """Whether it is one of these: any number, given as one parameter."""
    if connection.dialect.name != "sqlite":
        return column == sa.any_(sa.literal(list(names), postgresql.ARRAY(sa.Text)))
    each = sa.func.json_each(json.dumps(list(names))).table_valued("value")
    return column.in_(sa.select(each.c.value))


@dataclass(frozen=True)
class FinalOutcome:
    status: str
    output: str | None
    error: str | None


async def final_outcome(database: RunDatabase, run: str) -> FinalOutcome | None:
    """None while the run is not over, or if there is none."""
    query = (
        sa.select(status.c.status, output.c.output, output.c.error)
        .select_from(status.outerjoin(output, output.c.workflow_uuid == status.c.workflow_uuid))
        .where(status.c.workflow_uuid == run, status.c.status.in_(FINAL_STATUSES))
    )
    row = await database.run(lambda connection: connection.execute(query).one_or_none())
    return None if row is None else FinalOutcome(row.status, row.output, row.error)


def result_of(outcome: FinalOutcome, serializer: JsonSerializer) -> Any:
    """What the run returned; raises `RunFailed`."""
    if outcome.status == "SUCCESS" and outcome.output is not None:
        return serializer.deserialize(outcome.output)
    raise RunFailed(error_in(outcome))


def read_or_none(serialized: str | None) -> Any:
    """A value to show; None if it is missing or not JSON."""
    try:
        return None if serialized is None else shown(serialized)
    except ValueError:
        return None


def error_in(outcome: FinalOutcome) -> dict[str, Any]:
    """Why a run failed."""
    error = read_or_none(outcome.error)
    if isinstance(error, RunFailed):
        return error.error
    if outcome.status == "CANCELLED":
        return {"kind": "cancelled", "message": "It was cancelled.", "hint": ""}
    return {
        "kind": "interrupted",
        "message": "The run was interrupted too often.",
        "hint": "Look at the log of the worker for crashes, then start it again from the last step.",
    }

"""Everything that the engine uses of DBOS beyond its documented interface, in one place: no pickle, recovery
of runs, and queues (the limit of parallel runs of a workflow).

A column of each row tells DBOS how to read the row, and pickle is always among the choices, so that a row
could run code. Importing this module takes pickle away from DBOS: only JSON is read and written.

tests/features/workflows/engine/test_dbos_internals.py says which of it an upgrade of DBOS has changed.

Queues: runs that wait for a free worker, or for other runs of their workflow to end. DBOS limits a queue, or
each partition of it, to one number. So there is a queue for each limit that workflows use, and the workflow's
name is the partition.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any, NoReturn

import sqlalchemy as sa
from dbos import DBOS, Serializer, _core, _serialization
from dbos._context import current_owner_xid
from dbos._dbos import _get_dbos_instance
from dbos._error import (
    DBOSAwaitedWorkflowCancelledError,
    DBOSException,
    DBOSWorkflowCancelledError,
    DBOSWorkflowConflictIDError,
)
from dbos._logger import dbos_logger
from dbos._schemas import SCHEMA_PLACEHOLDER
from dbos._schemas.system_database import SystemSchema
from dbos._serialization import DefaultSerializer
from dbos._sys_db import SystemDatabase
from dbos._utils import INTERNAL_QUEUE_NAME

from toolcrib.features.workflows.engine.serializer import RefusedValue
from toolcrib.schema.workflows import Workflow

GENERAL = "toolcrib"

UNIX_EPOCH = 2440587.5
"""As a Julian day."""


class Queues:
    """The queues that this process has registered."""

    def __init__(self, *, worker_concurrency: int, polling: float, listen: bool = False) -> None:
        """`listen`: this process works only on the queues that its own runs wait in."""
        self._worker_concurrency = worker_concurrency
        self._polling = polling
        self._listen = listen
        self._known: set[str] = set()

    async def open(self) -> None:
        """Register the queue of runs without a limit."""
        await self._register(GENERAL, None)

    async def of(self, workflow: Workflow) -> tuple[str, str | None]:
        """The queue and the partition for runs of a workflow."""
        limit = workflow.options.concurrency
        name = GENERAL if limit is None else f"{GENERAL}-{limit}"
        await self._register(name, limit)
        if self._listen:
            listen_also(name)
        return name, None if limit is None else workflow.name

    async def _register(self, name: str, limit: int | None) -> None:
        if name in self._known:
            return
        await DBOS.register_queue_async(
            name,
            worker_concurrency=self._worker_concurrency,
            partition_concurrency=limit,
            polling_interval_sec=self._polling,
            on_conflict="always_update",
        )
        self._known.add(name)


def _refuse_pickle(serializer: Serializer, value: object) -> NoReturn:
    raise RefusedValue(
        "A stored value of this run is pickled. It was not read: that could run any code.",
        hint="Toolcrib stores JSON only. Check who can write to the database.",
    )


def _as_json(error: Exception, serialization: str | None, serializer: Serializer) -> str:
    """The error of a run as our JSON, also if its row names another format."""
    return serializer.serialize(error)


for _name, _replacement in (("serialize", _refuse_pickle), ("deserialize", _refuse_pickle)):
    setattr(DefaultSerializer, _name, _replacement)
vars(_serialization)["pickle"] = SimpleNamespace()
vars(_core)["_serialize_exception_for_persistence"] = _as_json


_now = SystemDatabase._now_ms_sql


def _now_ms(database: SystemDatabase) -> Any:
    """The time in milliseconds. DBOS takes it in whole seconds from SQLite before Python 3.12."""
    if database.engine.dialect.name != "sqlite":
        return _now(database)
    days = sa.func.julianday("now") - UNIX_EPOCH
    return sa.cast(sa.func.round(days * 86_400_000), sa.BigInteger)


setattr(SystemDatabase, "_now_ms_sql", _now_ms)  # noqa: B010


def owner_token(run: str) -> str | None:
    """What shows that this process still owns the run that it is in; None outside of it."""
    return current_owner_xid(run)


def requeue(run: str) -> None:
    """Put a run of this process back into the queue of recovered runs."""
    _get_dbos_instance()._sys_db.reenqueue_for_recovery(run, [DBOS.executor_id], INTERNAL_QUEUE_NAME)


def recover(workers: list[str]) -> int:
    """Put the runs of stopped workers back into their queues; how many there were."""
    return len(DBOS._recover_pending_workflows(workers))


def running_tasks(instance: DBOS) -> Iterable[asyncio.Task[Any]]:
    return tuple(instance._workflow_tasks)


def take_recovered_runs(taken: bool) -> None:
    """Whether this process works on recovered runs: DBOS listens to their queue whatever it is set to."""
    queue = _get_dbos_instance()._registry.get_internal_queue()
    queue._worker_concurrency = None if taken else 0


def listen_also(queue: str) -> None:
    """Work on a queue too, in a process that was launched for certain queues only."""
    listening = _get_dbos_instance()._listening_queues
    if listening is not None and queue not in listening:
        listening.append(queue)


def logger() -> logging.Logger:
    return dbos_logger


__all__ = [
    "INTERNAL_QUEUE_NAME",
    "SCHEMA_PLACEHOLDER",
    "DBOSAwaitedWorkflowCancelledError",
    "DBOSException",
    "DBOSWorkflowCancelledError",
    "DBOSWorkflowConflictIDError",
    "DefaultSerializer",
    "SystemDatabase",
    "SystemSchema",
    "listen_also",
    "logger",
    "owner_token",
    "recover",
    "requeue",
    "running_tasks",
    "take_recovered_runs",
]

"""Everything that the engine uses of DBOS beyond its documented interface, in one place.

tests/workflows/engine/test_dbos_internals.py says which of it an upgrade of DBOS has changed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from typing import Any

from dbos import DBOS
from dbos._context import current_owner_xid
from dbos._dbos import _get_dbos_instance
from dbos._error import (
    DBOSAwaitedWorkflowCancelledError,
    DBOSWorkflowCancelledError,
    DBOSWorkflowConflictIDError,
)
from dbos._logger import dbos_logger
from dbos._schemas import SCHEMA_PLACEHOLDER
from dbos._schemas.system_database import SystemSchema
from dbos._serialization import DefaultSerializer
from dbos._sys_db import SystemDatabase
from dbos._utils import INTERNAL_QUEUE_NAME


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

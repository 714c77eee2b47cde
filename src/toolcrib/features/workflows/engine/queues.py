"""Queues: runs that wait for a free worker, or for other runs of their workflow to end.

DBOS limits a queue, or each partition of it, to one number. So there is a queue for each limit that workflows
use, and the workflow's name is the partition.
"""

from __future__ import annotations

from dbos import DBOS

from toolcrib.features.workflows.engine.dbos_internals import listen_also
from toolcrib.schema.workflows import Workflow

GENERAL = "toolcrib"


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

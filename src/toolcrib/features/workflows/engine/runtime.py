"""What all runs of one engine share."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import Context
from dataclasses import dataclass, field
from typing import TypeVar

from toolcrib.clock import Clock
from toolcrib.config.database_key import Signer
from toolcrib.features.workflows.engine.active_run import ActiveRun
from toolcrib.features.workflows.engine.control import Controls
from toolcrib.features.workflows.engine.database import Database
from toolcrib.features.workflows.engine.documents import Documents
from toolcrib.features.workflows.engine.serializer import JsonSerializer
from toolcrib.features.workflows.engine.waits import Waits
from toolcrib.features.workflows.ports import RunServices
from toolcrib.features.workflows.secret_inputs import NO_KEY, RunKey

T = TypeVar("T")
OnChange = Callable[[str, str | None], None]


@dataclass
class Runtime:
    """The parts that visits use, and the runs that are active in this process."""

    database: Database
    clock: Clock
    services: RunServices
    on_change: OnChange
    waits: Waits
    controls: Controls
    documents: Documents
    serializer: JsonSerializer
    active: dict[str, ActiveRun] = field(default_factory=dict)
    closing: bool = False
    stale_after: float = 5.0
    """Seconds after which a worker makes sure that a run is still its own before it begins a step."""

    @classmethod
    def over(
        cls,
        database: Database,
        clock: Clock,
        services: RunServices,
        on_change: OnChange,
        signer: Signer | None = None,
        key: RunKey = NO_KEY,
    ) -> Runtime:
        """`signer` signs what is stored, if others can write to the database; `key` is for secret inputs."""
        serializer = JsonSerializer(signer)
        return cls(
            database=database,
            clock=clock,
            services=services,
            on_change=on_change,
            waits=Waits(database, clock, serializer),
            controls=Controls(database),
            documents=Documents(database, serializer, key),
            serializer=serializer,
        )


async def outside_of_runs(work: Callable[[], Awaitable[T]]) -> T:
    """Await without the context of a run, so that DBOS does not take it for a part of that run."""

    async def worked() -> T:
        return await work()

    return await asyncio.get_running_loop().create_task(worked(), context=Context())

"""What the parts of the engine know of a run that is active in this process: the contract of `Execution`."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

from toolcrib.clock import Clock
from toolcrib.features.workflows.engine.database import RunDatabase
from toolcrib.features.workflows.engine.documents import Documents, RunPlan
from toolcrib.features.workflows.engine.guard import CallGuard
from toolcrib.features.workflows.engine.serializer import JsonSerializer
from toolcrib.features.workflows.engine.waits import Waits
from toolcrib.features.workflows.ports import RunInfo, RunServices
from toolcrib.graph.walk import Visit, Walk
from toolcrib.schema.workflows import StepState


class ParentVisit(Protocol):
    """The visit that runs inside a run belong to."""

    attempt: int

    @property
    def step(self) -> str: ...

    def waiting(self) -> AbstractContextManager[None]: ...

    def note(self, kind: str, **facts: Any) -> None: ...


class ChildRuns(Protocol):
    """The items of maps, and sub-workflows."""

    async def run_map(self, context: ParentVisit, visit: Visit) -> dict[str, Any]: ...

    async def run_workflow(
        self, context: ParentVisit, name: str, inputs: Mapping[str, Any]
    ) -> Mapping[str, Any]: ...


class ActiveRun(Protocol):
    """A run, or an item of a map."""

    run: str
    root: str
    path: str
    owner: str | None
    plan: RunPlan
    walk: Walk
    info: RunInfo
    guard: CallGuard
    stopped: BaseException | None
    states: dict[str, StepState]
    confirmed: float

    @property
    def children(self) -> ChildRuns: ...

    @property
    def database(self) -> RunDatabase: ...

    @property
    def clock(self) -> Clock: ...

    @property
    def services(self) -> RunServices: ...

    @property
    def serializer(self) -> JsonSerializer: ...

    @property
    def waits(self) -> Waits: ...

    @property
    def documents(self) -> Documents: ...

    @property
    def busy(self) -> bool: ...

    @property
    def given_up(self) -> bool:
        """Whether what it started is no longer wanted; else it goes on later, here or in another worker."""

    async def confirm(self) -> None: ...

    def stop(self, reason: BaseException) -> None: ...

    def state(self, step: str, state: StepState) -> AbstractContextManager[None]: ...

    def time_left(self) -> float | None: ...

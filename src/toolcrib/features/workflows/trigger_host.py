"""The parts of a host that triggers use."""

from __future__ import annotations

import builtins
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from toolcrib.features.workflows.records import RunRecord
from toolcrib.features.workflows.stored import StoredWorkflow
from toolcrib.host.core import HostCore
from toolcrib.schema.workflows import Workflow

if TYPE_CHECKING:
    from toolcrib.features.workflows.engine.engine import Engine


class TriggerEngine(Protocol):
    @property
    def exists(self) -> bool:
        """Whether there can be any runs."""

    async def view(self) -> Engine:
        """An engine to look at runs."""


class TriggerRuns(Protocol):
    """Runs: `host.workflow_runs.WorkflowRuns`."""

    @property
    def engine(self) -> TriggerEngine: ...

    async def open(self) -> Engine:
        """The engine that runs workflows in this process."""

    async def get(self, run: str) -> RunRecord: ...

    async def send_event(self, run: str, name: str, data: Any, *, source: str = "") -> RunRecord: ...


class TriggerWorkflows(Protocol):
    """Stored workflows and their runs: `host.workflows.Workflows`."""

    @property
    def runs(self) -> TriggerRuns: ...

    async def get(self, name: str, version: str | None = None) -> StoredWorkflow: ...

    async def admit(self, workflow: Workflow) -> tuple[str, ...]: ...

    async def list(self) -> builtins.list[StoredWorkflow]: ...

    async def save(self, workflow: Workflow, *, expected_version: str | None = None) -> StoredWorkflow: ...


@dataclass(frozen=True, kw_only=True)
class TriggerHost:
    core: HostCore
    workflows: TriggerWorkflows

"""What workflows use of their host; `Host` implements it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from toolcrib.config.contents import Config
from toolcrib.config.paths import Paths
from toolcrib.config.settings import Settings
from toolcrib.events import Bus
from toolcrib.host.approvals import Approvals
from toolcrib.host.core import HostCore
from toolcrib.host.toolset import Toolset
from toolcrib.schema.events import Event
from toolcrib.schema.tools import Principal, Tool
from toolcrib.schema.workflows import Workflow
from toolcrib.servers.pool import Pool
from toolcrib.store.audit import AuditLog

if TYPE_CHECKING:
    from toolcrib.agent import Agent
    from toolcrib.features.workflows.secret_inputs import SecretInputs
    from toolcrib.host.chat_services import ChatServices


class WorkflowHost(Protocol):
    """The host of workflows."""

    core: HostCore
    toolset: Toolset
    approvals: Approvals
    audit: AuditLog

    @property
    def paths(self) -> Paths: ...

    @property
    def config(self) -> Config: ...

    @property
    def settings(self) -> Settings: ...

    @property
    def events(self) -> Bus[Event]: ...

    @property
    def servers(self) -> Pool: ...

    @property
    def chats(self) -> ChatServices: ...

    def tools(self) -> list[Tool]:
        """The current tools of all servers."""

    def answering_tools(self) -> list[Tool]:
        """The tools to offer to a model."""

    def agent(self, model: str | None = None) -> Agent:
        """An agent with this model, or the default one."""

    async def apply(self, config: Config) -> Sequence[str]:
        """Apply a configuration, with the entries in `core.added`."""

    async def end_session(self, principal: Principal) -> None:
        """Stop the processes of a session and forget its approvals."""


@dataclass(frozen=True, kw_only=True)
class RunStart:
    """What a run was started with; secret inputs are masked."""

    workflow: Workflow
    inputs: Mapping[str, Any]


class CheckedWorkflows(Protocol):
    """The stored workflows of a host."""

    async def find(self, name: str) -> Workflow:
        """A stored workflow; raises `NotFound`, or `InvalidWorkflow` if its file cannot be read."""

    def check(self, workflow: Workflow) -> None:
        """Raises `InvalidWorkflow` if it cannot run."""

    async def admit(self, workflow: Workflow) -> tuple[str, ...]:
        """Raises `NotConfirmed` for an imported workflow that may not run yet; what its run has to know."""

    async def is_confirmed(self, workflow: Workflow) -> bool | None:
        """None if the workflow was made here."""


class WorkflowSource(Protocol):
    """Stored workflows, and what is known of runs."""

    async def find(self, name: str) -> Workflow:
        """A stored workflow; raises `NotFound`, or `InvalidWorkflow` if its file cannot be read."""

    async def is_imported(self, workflow: Workflow) -> bool:
        """Whether it was made elsewhere."""

    async def started_with(self, run: str) -> RunStart:
        """The workflow and the inputs of a run; secret ones are masked."""

    async def secrets(self, run: str) -> SecretInputs:
        """The secret inputs of a run, and of the run that it belongs to."""

    def changed(self, run: str, step: str | None) -> None:
        """A run or one of its steps changed."""

"""What triggers need of their host: a store for what was turned on and what occurred, workflows, and runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

from toolcrib.features.workflows.trigger_type import Found, Occurrence
from toolcrib.schema.workflows import RunState, Workflow

StartState = Literal["ignored", "pending", "starting", "started", "ended", "skipped", "failed"]
"""`ignored` starts nothing; `skipped` would have overlapped; `ended`, `skipped` and `failed` are final."""


@dataclass(frozen=True, kw_only=True)
class Activation:
    """A trigger that the user turned on here, or off again."""

    workflow: str
    trigger: str
    """`schedule`, `schedule-2`: its type and its number among those of its type."""
    on: bool
    fingerprint: str
    """Of the settings that the user agreed to."""
    since: datetime
    position: str = ""
    machine: str = ""
    """Where it was turned on."""
    hook: str = ""
    """The public part of its webhook token."""
    token_hash: str = field(default="", repr=False)


@dataclass(frozen=True, kw_only=True)
class StartRecord:
    """An occurrence and the run that it started."""

    run: str
    workflow: str
    trigger: str
    state: StartState
    due: datetime
    updated: datetime
    event: Mapping[str, Any] | None = field(default=None, repr=False)
    """None once the run has started, and of all but the latest that failed."""
    note: str = ""
    """Why it was skipped or failed."""


class TriggerStore(Protocol):
    """Shared by all hosts that use the same database."""

    async def activations(self, workflow: str | None = None) -> Sequence[Activation]: ...

    async def by_hook(self, hook: str) -> Activation | None: ...

    async def turn_on(self, activation: Activation, found: Found) -> None:
        """Store it, with what its trigger found at the beginning; earlier occurrences stay."""

    async def turn_off(self, workflow: str, trigger: str) -> bool:
        """False if it is not on."""

    async def forget(self, workflow: str) -> None:
        """Remove its triggers and occurrences: the workflow was removed or replaced."""

    async def record(
        self, activation: Activation, found: Found, now: datetime, *, forget_before: datetime
    ) -> bool:
        """Store what was found, as a whole; False if another host was faster or it was turned off."""

    async def add(self, activation: Activation, occurrence: Occurrence, now: datetime) -> bool:
        """Store one occurrence; False if it is known."""

    async def start_of(self, run: str) -> StartRecord | None: ...

    async def waiting(self, stale: datetime) -> Sequence[tuple[str, str]]:
        """The triggers with occurrences whose runs are not started, or began to start before `stale`."""

    async def pending(
        self, workflow: str, trigger: str, stale: datetime, limit: int
    ) -> Sequence[StartRecord]: ...

    async def claim(self, run: str, now: datetime, stale: datetime) -> bool:
        """Begin to start a run; False if another host does."""

    async def settle(self, run: str, state: StartState, now: datetime, note: str = "") -> None: ...

    async def running(self, workflow: str, trigger: str, stale: datetime) -> Sequence[str]:
        """The runs that have started, or are starting, and are not known to have ended."""

    async def known(self, workflow: str, trigger: str) -> set[str]:
        """The ids of all stored occurrences."""

    async def latest(self, workflow: str, trigger: str, limit: int) -> Sequence[StartRecord]: ...

    async def failed(self, workflow: str, trigger: str, limit: int) -> Sequence[StartRecord]:
        """The latest starts that failed."""

    async def startable(self, run: str) -> StartRecord | None:
        """A start that failed, if its event is still there."""

    async def prune(self, before: datetime, keep: Sequence[tuple[str, str]]) -> int:
        """Delete final records from before, except those of the triggers in `keep`."""


class WorkflowSource(Protocol):
    async def workflow(self, name: str) -> Workflow:
        """Raises `NotFound`, or `UsageError` with the first problem of one that is not valid."""


class RunLauncher(Protocol):
    """Starts runs and follows them."""

    async def check(self, workflow: Workflow, inputs: Mapping[str, Any]) -> None:
        """Raises what `start` would raise: `UsageError` for wrong inputs, `Denied` if it may not run."""

    async def start(
        self, workflow: Workflow, inputs: Mapping[str, Any], run: str, *, source: str = ""
    ) -> None:
        """Start a run with this id; does nothing if it exists. Raises `UsageError` for wrong inputs.

        `source` names where untrusted inputs are from.
        """

    async def state(self, run: str) -> RunState | None:
        """None if there is no such run."""

    async def result(self, run: str, timeout: float) -> Mapping[str, Any]:
        """`run`, `state`, `outputs` and `error` when it has ended, or as it is after so many seconds."""

    async def find(self, workflow: str, name: str, value: Any) -> Sequence[str]:
        """The active runs of a workflow whose input has this value."""

    async def send_event(self, run: str, name: str, data: Any, *, source: str = "") -> None:
        """Raises `NotFound`."""

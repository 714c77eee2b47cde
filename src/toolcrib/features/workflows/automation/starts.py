"""Starts the runs of stored occurrences, each once: overlapping runs, most that are queued, why a trigger is
paused, and reasons for skipped starts.

An occurrence is stored before its run starts, and the run id is made from it. A host that stops in between
leaves a record behind that any host takes up again; starting a run that exists does nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal, Protocol

from toolcrib.clock import Clock
from toolcrib.errors import NotFound, ToolcribError, UsageError
from toolcrib.features.workflows.automation.definitions import (
    DefinedTrigger,
    find_defined,
    trigger_inputs,
    untrusted_inputs,
)
from toolcrib.features.workflows.records import FINAL
from toolcrib.features.workflows.trigger_store import Activation, StartRecord, StoredTriggers
from toolcrib.features.workflows.trigger_type import Overlap
from toolcrib.schema.workflows import RunState, Workflow

Status = Literal["off", "on", "paused"]
CHANGED = "It was changed after it was turned on. Turn it on again."
REMOVED = "The workflow no longer has this trigger."

logger = logging.getLogger(__name__)

TAKEN_UP_AFTER = timedelta(seconds=10)
"""After this time any host starts what one began to start; a start that is made twice does no harm."""
AT_ONCE = 100
"""Records that are read together."""
MOST_QUEUED = 100
"""Occurrences of a trigger that wait for the run before; further ones are skipped."""
_OVERLAPS = "A run of this trigger was still active."
_QUEUE_FULL = f"{MOST_QUEUED} occurrences of this trigger were waiting already."
_OFF = "The trigger was turned off."


@dataclass(frozen=True, kw_only=True)
class Assessment:
    """`paused`: the user turned it on, but it starts nothing now."""

    status: Status
    reason: str = ""
    defined: DefinedTrigger | None = None
    workflow: Workflow | None = None


class WorkflowSource(Protocol):
    async def workflow(self, name: str) -> Workflow:
        """Raises `NotFound`, or `UsageError` with the first problem of one that is not valid."""


async def assess(source: WorkflowSource, activation: Activation) -> Assessment:
    """The state of a trigger that is on, with its workflow as it is now."""
    try:
        workflow = await source.workflow(activation.workflow)
    except ToolcribError as error:
        return Assessment(status="paused", reason=error.message)
    defined = find_defined(workflow, activation.trigger)
    if defined is None:
        return Assessment(status="paused", reason=REMOVED)
    status, reason = standing(defined, activation)
    return Assessment(status=status, reason=reason, defined=defined, workflow=workflow)


def standing(defined: DefinedTrigger, activation: Activation | None) -> tuple[Status, str]:
    """The state of a trigger of a valid workflow."""
    if activation is None or not activation.on:
        return "off", ""
    if activation.fingerprint != defined.fingerprint:
        return "paused", CHANGED
    if defined.problems:
        return "paused", defined.problems[0]
    return "on", ""


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


class RunStarter:
    def __init__(
        self, store: StoredTriggers, source: WorkflowSource, launcher: RunLauncher, clock: Clock
    ) -> None:
        self._store = store
        self._source = source
        self._launcher = launcher
        self._clock = clock
        self.on_failed: Callable[[StartRecord, str], object] = lambda record, reason: None
        """Called with the reason when a run could not be started."""

    async def start_waiting(self) -> bool:
        """Start what is due; whether something is left that has to wait."""
        left = False
        for workflow, trigger in await self._store.waiting(self._clock.now() - TAKEN_UP_AFTER):
            left = await self._start_all(workflow, trigger) or left
        return left

    async def start(self, record: StartRecord, assessment: Assessment) -> bool:
        """Start one run now; False if another host does."""
        now = self._clock.now()
        if not await self._store.claim(record.run, now, now - TAKEN_UP_AFTER):
            return False
        await self._launch(record, assessment)
        return True

    async def _start_all(self, workflow: str, trigger: str) -> bool:
        activation = await self._activation(workflow, trigger)
        if activation is None or not activation.on:
            await self._skip_all(workflow, trigger)
            return False
        assessment = await assess(self._source, activation)
        if assessment.status != "on":
            return True
        while records := await self._pending(workflow, trigger, AT_ONCE):
            for record in records:
                if not await self._start_next(record, assessment):
                    return True
        return False

    async def _start_next(self, record: StartRecord, assessment: Assessment) -> bool:
        """False if this trigger has to wait."""
        overlap = _overlap(assessment)
        if overlap != "allow" and await self._is_busy(record):
            if overlap == "queue":
                await self._limit_queue(record)
                return False
            await self._store.settle(record.run, "skipped", self._clock.now(), _OVERLAPS)
            return True
        return await self.start(record, assessment)

    async def _launch(self, record: StartRecord, assessment: Assessment) -> None:
        defined, workflow = assessment.defined, assessment.workflow
        if defined is None or workflow is None:
            await self._store.settle(record.run, "pending", self._clock.now())
            return
        try:
            inputs = trigger_inputs(defined.trigger, record.event or {})
            await self._launcher.start(workflow, inputs, record.run, source=untrusted_inputs(defined))
        except ToolcribError as error:
            await self._refused(record, error)
        except Exception:  # the edge of the scheduler: one start must not stop the others
            logger.exception("a run could not be started", extra={"run": record.run})
            await self._failed(record, "Internal error; the host's log has the details.")
        else:
            await self._store.settle(record.run, "started", self._clock.now())

    async def _refused(self, record: StartRecord, error: ToolcribError) -> None:
        logger.warning("a run could not be started", extra={"run": record.run, "reason": error.message})
        if error.retryable:
            await self._store.settle(record.run, "pending", self._clock.now(), error.message)
            raise error
        await self._failed(record, error.message)

    async def _failed(self, record: StartRecord, reason: str) -> None:
        await self._store.settle(record.run, "failed", self._clock.now(), reason)
        self.on_failed(record, reason)

    async def start_again(self, run: str) -> None:
        """Start a run that could not be started; raises `NotFound`, or `UsageError` with the reason."""
        record = await self._store.startable(run)
        if record is None:
            raise NotFound(f"{run} is no start that failed, or its event is no longer stored.")
        activation = await self._activation(record.workflow, record.trigger)
        assessment = (
            Assessment(status="off") if activation is None else await assess(self._source, activation)
        )
        if assessment.status != "on":
            reason = assessment.reason or "It is off."
            hint = f"See: toolcrib workflow triggers {record.workflow}"
            raise UsageError(f"The trigger {record.trigger} starts nothing now: {reason}", hint=hint)
        await self._store.settle(run, "pending", self._clock.now())
        await self.start(record, assessment)
        if (after := await self._store.start_of(run)) is not None and after.state == "failed":
            raise UsageError(f"The run could not be started: {after.note}")

    async def _is_busy(self, record: StartRecord) -> bool:
        """Whether another run of the trigger is active; those that have ended are marked."""
        stale = self._clock.now() - TAKEN_UP_AFTER
        for run in await self._store.running(record.workflow, record.trigger, stale):
            if run == record.run:
                continue
            state = await self._launcher.state(run)
            if (state is not None and state not in FINAL) or await self._is_starting(run):
                return True
            await self._store.settle(run, "ended", self._clock.now())
        return False

    async def _is_starting(self, run: str) -> bool:
        found = await self._store.start_of(run)
        return found is not None and found.state == "starting"

    async def _limit_queue(self, first: StartRecord) -> None:
        waiting = await self._pending(first.workflow, first.trigger, MOST_QUEUED + AT_ONCE)
        for record in waiting[MOST_QUEUED:]:
            await self._store.settle(record.run, "skipped", self._clock.now(), _QUEUE_FULL)

    async def _skip_all(self, workflow: str, trigger: str) -> None:
        while records := await self._pending(workflow, trigger, AT_ONCE):
            for record in records:
                await self._store.settle(record.run, "skipped", self._clock.now(), _OFF)

    async def _pending(self, workflow: str, trigger: str, limit: int) -> list[StartRecord]:
        stale = self._clock.now() - TAKEN_UP_AFTER
        return list(await self._store.pending(workflow, trigger, stale, limit))

    async def _activation(self, workflow: str, trigger: str) -> Activation | None:
        found = await self._store.activations(workflow)
        return next((activation for activation in found if activation.trigger == trigger), None)


def _overlap(assessment: Assessment) -> Overlap:
    defined = assessment.defined
    if defined is None or defined.type is None or defined.settings is None:
        return "allow"
    return defined.type.overlap(defined.settings)
